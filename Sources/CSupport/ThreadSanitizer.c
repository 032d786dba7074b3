#include "ThreadSanitizer.h"

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

void cistern_tsan_acquire(void *address) {
  if (__tsan_acquire) { __tsan_acquire(address); }
}

void cistern_tsan_release(void *address) {
  if (__tsan_release) { __tsan_release(address); }
}
