#pragma once

// ThreadSanitizer does not recognize the locks of Synchronization.Mutex, which are futex operations in inlined code. It
// reports a race for every field that such a lock guards. These functions state the order that the lock establishes.
// They do nothing without the sanitizer's runtime, because they refer to it weakly.
void cistern_tsan_acquire(void *_Nonnull address);
void cistern_tsan_release(void *_Nonnull address);
