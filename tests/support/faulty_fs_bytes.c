/* The functions of libc that change or sync what is in a file, each with its fault, its count and
 * its note. */
#define _GNU_SOURCE
#include "faulty_fs_core.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- bytes ---- */

struct half {
  int fd;
  const void* bytes;
  size_t size;
};

static void write_half(void* context) {
  const struct half* half = context;
  if (REAL(write)(half->fd, half->bytes, half->size / 2) < 0) {
    errno = 0; /* the process is about to die */
  }
}

static uint64_t end_of(int fd) {
  struct stat info;
  const int is_append = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
  return is_append && fstat(fd, &info) == 0 ? (uint64_t)info.st_size
                                            : (uint64_t)lseek(fd, 0, SEEK_CUR);
}

EXPORT ssize_t write(int fd, const void* bytes, size_t size) {
  char path[faulty_path_size];
  if (!faulty_path_of(fd, path)) {
    return REAL(write)(fd, bytes, size);
  }
  faulty_enter();
  struct half half = {fd, bytes, size};
  const int error = faulty_decide(family_write, 1, path, write_half, &half);
  const uint64_t offset = end_of(fd);
  const size_t taken = error == faulty_short && size > 1 ? size / 2 : size;
  const ssize_t count = error > 0 ? faulty_failed(error) : REAL(write)(fd, bytes, taken);
  if (count > 0) {
    faulty_note(faulty_write, faulty_inode_of(fd), 0, offset, bytes, (size_t)count, NULL);
  }
  faulty_leave();
  return count;
}

static ssize_t pwrite_noted(int fd, const void* bytes, size_t size, off_t offset) {
  char path[faulty_path_size];
  if (!faulty_path_of(fd, path)) {
    return REAL(pwrite)(fd, bytes, size, offset);
  }
  faulty_enter();
  const int error = faulty_decide(family_write, 1, path, NULL, NULL);
  const size_t taken = error == faulty_short && size > 1 ? size / 2 : size;
  const ssize_t count = error > 0 ? faulty_failed(error) : REAL(pwrite)(fd, bytes, taken, offset);
  if (count > 0) {
    faulty_note(faulty_write, faulty_inode_of(fd), 0, (uint64_t)offset, bytes, (size_t)count, NULL);
  }
  faulty_leave();
  return count;
}
EXPORT ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return pwrite_noted(fd, bytes, size, offset);
}
EXPORT ssize_t pwrite64(int fd, const void* bytes, size_t size, off_t offset) {
  return pwrite_noted(fd, bytes, size, offset);
}

/* Piece by piece, so that each is a mutation of its own; all or nothing is not promised by writev
 * either. */
EXPORT ssize_t writev(int fd, const struct iovec* pieces, int count) {
  char path[faulty_path_size];
  if (!faulty_path_of(fd, path)) {
    return REAL(writev)(fd, pieces, count);
  }
  ssize_t total = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t one = write(fd, pieces[i].iov_base, pieces[i].iov_len);
    if (one < 0) {
      return total > 0 ? total : one;
    }
    total += one;
    if ((size_t)one < pieces[i].iov_len) {
      break;
    }
  }
  return total;
}

EXPORT ssize_t read(int fd, void* bytes, size_t size) {
  char path[faulty_path_size];
  GUARDED(family_read, 0, faulty_watches(family_read) && faulty_path_of(fd, path), path,
          REAL(read)(fd, bytes, size))
}
EXPORT ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  char path[faulty_path_size];
  GUARDED(family_read, 0, faulty_watches(family_read) && faulty_path_of(fd, path), path,
          REAL(pread)(fd, bytes, size, offset))
}

/* What the kernel copied is read back for the journal. */
static void note_copied(int to, uint64_t offset, uint64_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", to);
  const int kept = errno;
  const int fd = REAL(openat)(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  char bytes[65536];
  for (uint64_t done = 0; fd >= 0 && done < size;) {
    const size_t step = size - done < sizeof bytes ? (size_t)(size - done) : sizeof bytes;
    const ssize_t count = REAL(pread)(fd, bytes, step, (off_t)(offset + done));
    if (count <= 0) {
      break;
    }
    faulty_note(faulty_write, faulty_inode_of(to), 0, offset + done, bytes, (size_t)count, NULL);
    done += (uint64_t)count;
  }
  if (fd >= 0) {
    REAL(close)(fd);
  }
  errno = kept;
}

EXPORT ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, size_t size,
                               unsigned flags) {
  char path[faulty_path_size];
  if (!faulty_path_of(to, path)) {
    return REAL(copy_file_range)(from, from_at, to, to_at, size, flags);
  }
  faulty_enter();
  const int error = faulty_decide(family_copy, 1, path, NULL, NULL);
  const uint64_t offset = to_at == NULL ? end_of(to) : (uint64_t)*to_at;
  const size_t taken = error == faulty_short && size > 1 ? size / 2 : size;
  const ssize_t count = error > 0 ? faulty_failed(error)
                                  : REAL(copy_file_range)(from, from_at, to, to_at, taken, flags);
  if (count > 0) {
    note_copied(to, offset, (uint64_t)count);
  }
  faulty_leave();
  return count;
}

EXPORT ssize_t sendfile(int to, int from, off_t* from_at, size_t size) {
  char path[faulty_path_size];
  if (!faulty_path_of(to, path)) {
    return REAL(sendfile)(to, from, from_at, size);
  }
  faulty_enter();
  const int error = faulty_decide(family_copy, 1, path, NULL, NULL);
  const uint64_t offset = end_of(to);
  const ssize_t count = error > 0 ? faulty_failed(error) : REAL(sendfile)(to, from, from_at, size);
  if (count > 0) {
    note_copied(to, offset, (uint64_t)count);
  }
  faulty_leave();
  return count;
}

EXPORT int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  char path[faulty_path_size];
  if (request != FICLONE || !faulty_path_of(fd, path)) {
    return REAL(ioctl)(fd, request, argument);
  }
  faulty_enter();
  const int error = faulty_decide(family_clone, 1, path, NULL, NULL);
  const int result = error > 0 ? (int)faulty_failed(error) : REAL(ioctl)(fd, request, argument);
  struct stat info;
  if (result == 0 && fstat(fd, &info) == 0) {
    note_copied(fd, 0, (uint64_t)info.st_size);
  }
  faulty_leave();
  return result;
}

static int truncate_noted(int fd, off_t size) {
  char path[faulty_path_size];
  if (!faulty_path_of(fd, path)) {
    return REAL(ftruncate)(fd, size);
  }
  faulty_enter();
  const int error = faulty_decide(family_truncate, 1, path, NULL, NULL);
  const int result = error > 0 ? (int)faulty_failed(error) : REAL(ftruncate)(fd, size);
  if (result == 0) {
    faulty_note(faulty_truncate, faulty_inode_of(fd), 0, (uint64_t)size, NULL, 0, NULL);
  }
  faulty_leave();
  return result;
}
EXPORT int ftruncate(int fd, off_t size) {
  return truncate_noted(fd, size);
}
EXPORT int ftruncate64(int fd, off_t size) {
  return truncate_noted(fd, size);
}

EXPORT int fallocate(int fd, int mode, off_t offset, off_t size) {
  char path[faulty_path_size];
  GUARDED(family_fallocate, 1, faulty_path_of(fd, path), path,
          REAL(fallocate)(fd, mode, offset, size))
}

/* ---- syncs ---- */

static int sync_noted(int fd, enum family which, int (*real)(int),
                      enum faulty_operation operation) {
  char path[faulty_path_size];
  if (!faulty_path_of(fd, path)) {
    return real(fd);
  }
  faulty_enter();
  const int error = faulty_decide(which, 0, path, NULL, NULL);
  const int result = error > 0 ? (int)faulty_failed(error) : real(fd);
  if (result == 0) {
    faulty_note(operation, faulty_inode_of(fd), 0, 0, NULL, 0, NULL);
  }
  faulty_leave();
  return result;
}
EXPORT int fsync(int fd) {
  return sync_noted(fd, family_fsync, REAL(fsync), faulty_fsync);
}
EXPORT int fdatasync(int fd) {
  return sync_noted(fd, family_fsync, REAL(fdatasync), faulty_fsync);
}
EXPORT int syncfs(int fd) {
  return sync_noted(fd, family_syncfs, REAL(syncfs), faulty_syncfs);
}
