#include "Forks.h"

#include <pthread.h>

unsigned long cistern_forks = 0;

// Runs in the child before `fork` returns there, so it must neither lock nor allocate.
static void cistern_count_fork(void) { __atomic_fetch_add(&cistern_forks, 1, __ATOMIC_RELAXED); }

// Runs when the program is loaded. A handler that another thread registers during a fork would come too late.
__attribute__((constructor)) static void cistern_count_forks(void) { pthread_atfork(NULL, NULL, cistern_count_fork); }
