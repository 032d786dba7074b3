#pragma once

// Has the line of memory at this address fetched while the program goes on. Reads nothing: any address will do.
static inline void cistern_prefetch(const void *_Nullable address) { __builtin_prefetch(address); }
