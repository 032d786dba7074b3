// Records in order which bytes a process writes to a store's files and when it synchronizes them, for
// `scripts/torture power-cuts`. The library is preloaded and appends to the file that CISTERN_RECORD names. It also
// records the standard output of the process: a flush that is printed there was durable before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record = -2;

enum { WRITTEN = 1, SYNCHRONIZED = 2, CUT = 3, SAID = 4, SYNCHRONOUSLY = 5 };

// Returns 1 for data.mdb, 2 for the mark, and 0 for files that belong to no store.
static int file_of(int descriptor) {
  char link[64], path[1024];
  char *digits = link + 14;
  memcpy(link, "/proc/self/fd/", 14);
  int value = descriptor, length = 0;
  char reversed[16];
  if (value < 0) return 0;
  do reversed[length++] = '0' + value % 10; while ((value /= 10));
  while (length) *digits++ = reversed[--length];
  *digits = 0;
  ssize_t count = readlink(link, path, sizeof path - 1);
  if (count <= 0) return 0;
  path[count] = 0;
  const char *name = strrchr(path, '/');
  if (!name) return 0;
  if (!strcmp(name, "/data.mdb")) return 1;
  if (!strcmp(name, "/cistern.mark")) return 2;
  return 0;
}

static void note(int kind, int file, uint64_t offset, const struct iovec *parts, int count) {
  uint64_t header[4] = {kind, file, offset, 0};
  for (int i = 0; i < count; i++) header[3] += parts[i].iov_len;
  pthread_mutex_lock(&lock);
  if (record == -2) {
    const char *path = getenv("CISTERN_RECORD");
    record = path ? (int)syscall(SYS_open, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  }
  if (record >= 0) {
    syscall(SYS_write, record, header, sizeof header);
    for (int i = 0; i < count; i++) syscall(SYS_write, record, parts[i].iov_base, parts[i].iov_len);
  }
  pthread_mutex_unlock(&lock);
}

static void note_write(int descriptor, uint64_t offset, const struct iovec *parts, int count) {
  int file = file_of(descriptor);
  if (!file) return;
  int flags = fcntl(descriptor, F_GETFL);
  note(flags & (O_DSYNC | O_SYNC) ? SYNCHRONOUSLY : WRITTEN, file, offset, parts, count);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
  ssize_t done = syscall(SYS_pwrite64, descriptor, bytes, size, offset);
  struct iovec part = {(void *)bytes, done > 0 ? (size_t)done : 0};
  if (done > 0) note_write(descriptor, offset, &part, 1);
  return done;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  return pwrite64(descriptor, bytes, size, offset);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
  ssize_t done = syscall(SYS_pwritev, descriptor, parts, count, offset, 0);
  if (done > 0) note_write(descriptor, offset, parts, count);
  return done;
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(descriptor, parts, count, offset);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  off_t offset = lseek(descriptor, 0, SEEK_CUR);
  ssize_t done = syscall(SYS_writev, descriptor, parts, count);
  if (done > 0 && offset >= 0) note_write(descriptor, offset, parts, count);
  return done;
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
  struct iovec part = {(void *)bytes, size};
  if (descriptor == 1) {
    note(SAID, 0, 0, &part, 1);
    return syscall(SYS_write, descriptor, bytes, size);
  }
  off_t offset = lseek(descriptor, 0, SEEK_CUR);
  ssize_t done = syscall(SYS_write, descriptor, bytes, size);
  part.iov_len = done > 0 ? done : 0;
  if (done > 0 && offset >= 0) note_write(descriptor, offset, &part, 1);
  return done;
}

static int synchronize(int number, int descriptor) {
  int file = file_of(descriptor);
  int result = (int)syscall(number, descriptor);
  // Noted after the call: writes of other threads during it may or may not be durable, and the record treats them as
  // not durable.
  if (file && result == 0) note(SYNCHRONIZED, file, 0, 0, 0);
  return result;
}

int fdatasync(int descriptor) { return synchronize(SYS_fdatasync, descriptor); }
int fsync(int descriptor) { return synchronize(SYS_fsync, descriptor); }

int ftruncate64(int descriptor, off64_t size) {
  int result = (int)syscall(SYS_ftruncate, descriptor, size);
  int file = file_of(descriptor);
  if (file && result == 0) note(CUT, file, size, 0, 0);
  return result;
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }
