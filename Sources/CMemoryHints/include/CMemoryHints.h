#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Has the line of memory at this address fetched while the program goes on. Reads nothing: any address will do.
static inline void cistern_prefetch(const void *_Nullable address) { __builtin_prefetch(address); }

// Eight bytes, wherever they are, as a number that differs from others as they do.
static inline uint64_t cistern_word(const void *_Nonnull bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

// Four bytes, as above.
static inline uint64_t cistern_half_word(const void *_Nonnull bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

// Whether so many bytes are the same in both places. From 4 to 48, as most keys have, they are compared without a call, in
// words that may overlap.
static inline bool cistern_are_equal(const void *_Nullable left, const void *_Nullable right, size_t count) {
  if (count < 4 || count > 48) return count == 0 || memcmp(left, right, count) == 0;
  const char *one = left, *other = right;
  if (count < 8) {
    return ((cistern_half_word(one) ^ cistern_half_word(other)) |
            (cistern_half_word(one + count - 4) ^ cistern_half_word(other + count - 4))) == 0;
  }
  uint64_t differences =
      (cistern_word(one) ^ cistern_word(other)) | (cistern_word(one + count - 8) ^ cistern_word(other + count - 8));
  if (count > 16) {
    differences |= (cistern_word(one + 8) ^ cistern_word(other + 8)) |
                   (cistern_word(one + count - 16) ^ cistern_word(other + count - 16));
  }
  if (count > 32) {
    differences |= (cistern_word(one + 16) ^ cistern_word(other + 16)) |
                   (cistern_word(one + 24) ^ cistern_word(other + 24));
  }
  return differences == 0;
}
