#pragma once

extern unsigned long cistern_forks;

// Returns the number of forks between the program's first process and this one. It is a single load.
static inline unsigned long cistern_fork_count(void) { return __atomic_load_n(&cistern_forks, __ATOMIC_RELAXED); }
