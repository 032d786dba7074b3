#include "Threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

_Thread_local uint32_t cistern_number_of_this_thread = 0;

uint32_t cistern_number_this_thread(void) {
  static _Atomic uint32_t count = 0;
  // The value is never zero, which means that the thread has no number. Numbers repeat after 2^31 threads.
  cistern_number_of_this_thread = (atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) << 1) | 1;
  return cistern_number_of_this_thread >> 1;
}

void cistern_wait_shortly(uint32_t attempt) {
  if (attempt < 64) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
  } else if (attempt < 128) {
    sched_yield();
  } else {
    // The other thread may have a lower priority and need this processor, so yielding is not enough.
    struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
  }
}
