#pragma once

#include <stdint.h>

extern _Thread_local uint32_t cistern_number_of_this_thread;
uint32_t cistern_number_this_thread(void);

// A number of the calling thread: the first that asks has 0, the next 1.
static inline uint32_t cistern_thread_number(void) {
  uint32_t number = cistern_number_of_this_thread;
  return number != 0 ? number >> 1 : cistern_number_this_thread();
}

// Nothing that reads or writes memory is moved past this by the compiler. Costs nothing itself.
static inline void cistern_keep_in_order(void) { __asm__ volatile("" ::: "memory"); }

// Lets a little time pass for somebody who is about to be done: a moment, a turn of others, or 50 microseconds, by how
// often that did not help.
void cistern_wait_shortly(uint32_t attempt);
