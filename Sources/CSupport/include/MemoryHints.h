#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Starts to load the cache line at this address, without waiting for it. It reads nothing, so any address is allowed.
static inline void cistern_prefetch(const void *_Nullable address) { __builtin_prefetch(address); }

// Loads eight aligned bytes that another thread or process can change at the same time. No later memory access of this thread precedes
// the load.
static inline uint64_t cistern_load_acquiring(const void *_Nonnull address) {
  return __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE);
}

// Returns eight bytes at any alignment as a number. The byte order is the platform's, so only equality is meaningful.
static inline uint64_t cistern_word(const void *_Nonnull bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

// Returns four bytes at any alignment as a number, like cistern_word.
static inline uint64_t cistern_half_word(const void *_Nonnull bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

// Returns whether the first `count` bytes at both addresses are equal. Most keys have 4 to 48 bytes: these are compared
// without a call, in words that may overlap.
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
