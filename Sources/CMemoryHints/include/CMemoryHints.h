#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Has the line of memory at this address fetched while the program goes on. Reads nothing: any address will do.
static inline void cistern_prefetch(const void *_Nullable address) { __builtin_prefetch(address); }

// Whether so many bytes are the same in both places.
static inline bool cistern_are_equal(const void *_Nullable left, const void *_Nullable right, size_t count) {
  return count == 0 || memcmp(left, right, count) == 0;
}
