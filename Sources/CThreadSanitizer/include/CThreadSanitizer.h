#pragma once

// ThreadSanitizer does not see the locks of Synchronization.Mutex (they are futex operations in inlined code), and
// reports a race for every field that one guards. These tell it what the lock orders. Weak: without the sanitizer's
// runtime they do nothing.
void cistern_tsan_acquire(void *_Nonnull address);
void cistern_tsan_release(void *_Nonnull address);
