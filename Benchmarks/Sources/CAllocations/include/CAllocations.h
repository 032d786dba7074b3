#pragma once
#include <stdint.h>

/// Starts or stops the count of calls of malloc, calloc, realloc and the aligned variants, on every thread.
void cistern_count_allocations(int enabled);

/// Returns the number of calls counted so far, or -1 on platforms without glibc.
int64_t cistern_allocation_count(void);

/// Returns the number of bytes that malloc has allocated and not freed, large blocks included. Returns -1 on
/// platforms without glibc.
int64_t cistern_allocated_bytes(void);
