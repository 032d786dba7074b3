#pragma once
#include <stdint.h>

/// Starts or stops counting calls of malloc, calloc, realloc and the aligned ones, on every thread.
void cistern_count_allocations(int enabled);

/// The calls counted so far; -1 where they cannot be counted (anywhere but with glibc).
int64_t cistern_allocation_count(void);

/// Bytes that malloc has handed out and not got back, large blocks included; -1 where that cannot be asked.
int64_t cistern_allocated_bytes(void);
