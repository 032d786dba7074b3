#pragma once

#include <stdint.h>

extern _Thread_local uint32_t cistern_number_of_this_thread;
uint32_t cistern_number_this_thread(void);

// Returns the number of the calling thread. The first thread that calls this has the number 0, the next one 1.
static inline uint32_t cistern_thread_number(void) {
  uint32_t number = cistern_number_of_this_thread;
  return number != 0 ? number >> 1 : cistern_number_this_thread();
}

// A compiler barrier: the compiler moves no memory access across it. It emits no instruction.
static inline void cistern_keep_in_order(void) { __asm__ volatile("" ::: "memory"); }

// Waits for a short time in a polling loop. Attempts below 64 pause the processor, attempts below 128 yield it, and
// later ones sleep for 50 microseconds.
void cistern_wait_shortly(uint32_t attempt);
