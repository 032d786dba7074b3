// Makes calls on a store's files fail, for `scripts/torture faults`. It simulates a full or broken device, too many
// open files, and lost permissions. The library is preloaded, and the trial calls cistern_fault.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, SYNCHRONIZE = 2, CUT = 4, OPEN = 8, MAP = 16 };

static _Atomic int kinds, error;
static _Atomic long skipped, times, hits;

// Makes the calls of the kinds `of` fail with the error `with`: the first `after` calls succeed, and the next `count`
// calls fail. The error 0 makes a write write half of its bytes.
void cistern_fault(int of, int with, long after, long count) {
  atomic_store(&kinds, 0);
  atomic_store(&error, with);
  atomic_store(&skipped, after);
  atomic_store(&times, count);
  atomic_store(&kinds, of);
}

// Returns the number of calls that failed.
long cistern_fault_hits(void) { return atomic_load(&hits); }

// Returns whether the path belongs to a trial's store. Calls on other files never fail.
static int is_store(const char *path) { return path && strstr(path, "/cistern-temporary-") && strstr(path, "/store"); }

static int is_store_file(int descriptor) {
  char link[64], path[1024];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, sizeof path - 1);
  if (count <= 0) return 0;
  path[count] = 0;
  return is_store(path);
}

// Returns whether this call fails.
static int fails(int kind) {
  if (!(atomic_load(&kinds) & kind)) return 0;
  if (atomic_fetch_sub(&skipped, 1) > 0) return 0;
  if (atomic_fetch_sub(&times, 1) <= 0) return 0;
  atomic_fetch_add(&hits, 1);
  errno = atomic_load(&error);
  return 1;
}

static int write_fails(int descriptor) {
  return atomic_load(&kinds) & WRITE && is_store_file(descriptor) && fails(WRITE);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
  if (write_fails(descriptor)) {
    if (errno) return -1;
    size /= 2;
  }
  return syscall(SYS_pwrite64, descriptor, bytes, size, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  return pwrite64(descriptor, bytes, size, offset);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
  if (write_fails(descriptor)) {
    if (errno) return -1;
    return pwrite64(descriptor, parts[0].iov_base, parts[0].iov_len / 2, offset);
  }
  return syscall(SYS_pwritev, descriptor, parts, count, offset, 0);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(descriptor, parts, count, offset);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  if (write_fails(descriptor)) {
    if (errno) return -1;
    return syscall(SYS_write, descriptor, parts[0].iov_base, parts[0].iov_len / 2);
  }
  return syscall(SYS_writev, descriptor, parts, count);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
  if (write_fails(descriptor)) {
    if (errno) return -1;
    size /= 2;
  }
  return syscall(SYS_write, descriptor, bytes, size);
}

static int call_fails(int kind, int descriptor) {
  if (!(atomic_load(&kinds) & kind) || !is_store_file(descriptor) || !fails(kind)) return 0;
  if (!errno) errno = EIO;
  return 1;
}

int fdatasync(int descriptor) {
  return call_fails(SYNCHRONIZE, descriptor) ? -1 : (int)syscall(SYS_fdatasync, descriptor);
}

int fsync(int descriptor) { return call_fails(SYNCHRONIZE, descriptor) ? -1 : (int)syscall(SYS_fsync, descriptor); }

int ftruncate64(int descriptor, off64_t size) {
  return call_fails(CUT, descriptor) ? -1 : (int)syscall(SYS_ftruncate, descriptor, size);
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

int fallocate64(int descriptor, int mode, off64_t offset, off64_t size) {
  return call_fails(CUT, descriptor) ? -1 : (int)syscall(SYS_fallocate, descriptor, mode, offset, size);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  return fallocate64(descriptor, mode, offset, size);
}

// Returns the error instead of setting errno.
int posix_fallocate64(int descriptor, off64_t offset, off64_t size) {
  return fallocate64(descriptor, 0, offset, size) == 0 ? 0 : errno;
}

int posix_fallocate(int descriptor, off_t offset, off_t size) { return posix_fallocate64(descriptor, offset, size); }

static int open_file(const char *path, int flags, int mode) {
  if (atomic_load(&kinds) & OPEN && is_store(path) && fails(OPEN)) {
    if (!errno) errno = EMFILE;
    return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;
  va_end(list);
  return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;
  va_end(list);
  return open_file(path, flags, mode);
}

void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off64_t offset) {
  if (descriptor >= 0 && call_fails(MAP, descriptor)) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  return mmap64(address, size, protection, flags, descriptor, offset);
}
