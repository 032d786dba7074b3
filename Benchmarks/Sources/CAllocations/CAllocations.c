#include "CAllocations.h"

#if defined(__linux__) && defined(__GLIBC__)
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

// The program's malloc replaces the C library's for all linked code, including the Swift runtime. It counts the call
// and forwards it to the original function.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_int counting;
static atomic_llong allocations;

static inline void note(void) {
  if (atomic_load_explicit(&counting, memory_order_relaxed))
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

void *malloc(size_t size) { note(); return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { note(); return __libc_calloc(count, size); }
void *realloc(void *block, size_t size) { note(); return __libc_realloc(block, size); }
void *memalign(size_t alignment, size_t size) { note(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { note(); return __libc_memalign(alignment, size); }
void free(void *block) { __libc_free(block); }

int posix_memalign(void **block, size_t alignment, size_t size) {
  note();
  void *result = __libc_memalign(alignment, size);
  if (!result) return ENOMEM;
  *block = result;
  return 0;
}

void cistern_count_allocations(int enabled) { atomic_store(&counting, enabled); }
int64_t cistern_allocation_count(void) { return atomic_load(&allocations); }

int64_t cistern_allocated_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
}

#else

void cistern_count_allocations(int enabled) { (void)enabled; }
int64_t cistern_allocation_count(void) { return -1; }
int64_t cistern_allocated_bytes(void) { return -1; }

#endif
