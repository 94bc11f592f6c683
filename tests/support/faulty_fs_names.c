/* The functions of libc that make, move and remove names, or set what a name has. */
#define _GNU_SOURCE
#include "faulty_fs_core.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- open ---- */

static int open_noted(int folder, const char* path, int flags, mode_t mode) {
  char absolute[faulty_path_size];
  if (!faulty_path_at(folder, path, absolute)) {
    return REAL(openat)(folder, path, flags, mode);
  }
  faulty_enter();
  const int kept = errno;
  const int exists = faccessat(AT_FDCWD, absolute, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  errno = kept;
  const int makes = ((flags & O_CREAT) != 0 && !exists) || (flags & O_TMPFILE) == O_TMPFILE;
  const int empties = (flags & O_TRUNC) != 0 && exists;
  const int error = faulty_decide(family_open, makes || empties, absolute, NULL, NULL);
  const int fd = error > 0 ? (int)faulty_failed(error) : REAL(openat)(folder, path, flags, mode);
  if (fd >= 0 && makes) {
    struct stat info;
    if (fstat(fd, &info) == 0) {
      faulty_note_path(faulty_create, info.st_ino, info.st_mode & 07777, absolute, NULL);
    }
  } else if (fd >= 0 && empties) {
    faulty_note(faulty_truncate, faulty_inode_of(fd), 0, 0, NULL, 0, NULL);
  }
  faulty_leave();
  return fd;
}

static mode_t mode_argument(int flags, va_list list) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

#define OPEN_LIKE(name)                                                                            \
  EXPORT int name(const char* path, int flags, ...) {                                              \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    const mode_t mode = mode_argument(flags, list);                                                \
    va_end(list);                                                                                  \
    return open_noted(AT_FDCWD, path, flags, mode);                                                \
  }
#define OPENAT_LIKE(name)                                                                          \
  EXPORT int name(int folder, const char* path, int flags, ...) {                                  \
    va_list list;                                                                                  \
    va_start(list, flags);                                                                         \
    const mode_t mode = mode_argument(flags, list);                                                \
    va_end(list);                                                                                  \
    return open_noted(folder, path, flags, mode);                                                  \
  }
OPEN_LIKE(open)
OPEN_LIKE(open64)
OPENAT_LIKE(openat)
OPENAT_LIKE(openat64)
EXPORT int __open_2(const char* path, int flags) {
  return open_noted(AT_FDCWD, path, flags, 0);
}
EXPORT int __openat_2(int folder, const char* path, int flags) {
  return open_noted(folder, path, flags, 0);
}

/* ---- names ---- */

static int rename_noted(int from_folder, const char* from, int to_folder, const char* to,
                        unsigned flags) {
  char old_path[faulty_path_size];
  char new_path[faulty_path_size];
  const int old_is_ours = faulty_path_at(from_folder, from, old_path);
  if (!faulty_path_at(to_folder, to, new_path) && !old_is_ours) {
    return (int)REAL(syscall)(SYS_renameat2, from_folder, from, to_folder, to, flags);
  }
  faulty_enter();
  const int error = faulty_decide(family_rename, 1, new_path, NULL, NULL);
  const int result =
      error > 0 ? (int)faulty_failed(error)
                : (int)REAL(syscall)(SYS_renameat2, from_folder, from, to_folder, to, flags);
  if (result == 0) {
    faulty_note_path(faulty_rename, 0, flags, old_path, new_path);
  }
  faulty_leave();
  return result;
}
EXPORT int rename(const char* from, const char* to) {
  return rename_noted(AT_FDCWD, from, AT_FDCWD, to, 0);
}
EXPORT int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return rename_noted(from_folder, from, to_folder, to, 0);
}
EXPORT int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                     unsigned flags) {
  return rename_noted(from_folder, from, to_folder, to, flags);
}

EXPORT int mkdirat(int folder, const char* path, mode_t mode) {
  char absolute[faulty_path_size];
  if (!faulty_path_at(folder, path, absolute)) {
    return REAL(mkdirat)(folder, path, mode);
  }
  faulty_enter();
  const int error = faulty_decide(family_mkdir, 1, absolute, NULL, NULL);
  const int result = error > 0 ? (int)faulty_failed(error) : REAL(mkdirat)(folder, path, mode);
  if (result == 0) {
    faulty_note_path(faulty_mkdir, faulty_inode_at(absolute), mode, absolute, NULL);
  }
  faulty_leave();
  return result;
}
EXPORT int mkdir(const char* path, mode_t mode) {
  return mkdirat(AT_FDCWD, path, mode);
}

EXPORT int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  char old_path[faulty_path_size];
  char new_path[faulty_path_size];
  if (!faulty_path_at(to_folder, to, new_path)) {
    return REAL(linkat)(from_folder, from, to_folder, to, flags);
  }
  faulty_path_at(from_folder, from, old_path);
  faulty_enter();
  const int error = faulty_decide(family_link, 1, new_path, NULL, NULL);
  const int result =
      error > 0 ? (int)faulty_failed(error) : REAL(linkat)(from_folder, from, to_folder, to, flags);
  if (result == 0) {
    faulty_note_path(faulty_link, faulty_inode_at(new_path), 0, new_path, old_path);
  }
  faulty_leave();
  return result;
}
EXPORT int link(const char* from, const char* to) {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int symlinkat(const char* target, int folder, const char* path) {
  char absolute[faulty_path_size];
  if (!faulty_path_at(folder, path, absolute)) {
    return REAL(symlinkat)(target, folder, path);
  }
  faulty_enter();
  const int error = faulty_decide(family_symlink, 1, absolute, NULL, NULL);
  const int result = error > 0 ? (int)faulty_failed(error) : REAL(symlinkat)(target, folder, path);
  if (result == 0) {
    faulty_note_path(faulty_symlink, faulty_inode_at(absolute), 0, absolute, target);
  }
  faulty_leave();
  return result;
}
EXPORT int symlink(const char* target, const char* path) {
  return symlinkat(target, AT_FDCWD, path);
}

EXPORT int unlinkat(int folder, const char* path, int flags) {
  char absolute[faulty_path_size];
  if (!faulty_path_at(folder, path, absolute)) {
    return REAL(unlinkat)(folder, path, flags);
  }
  faulty_enter();
  const int error = faulty_decide(family_unlink, 1, absolute, NULL, NULL);
  const int result = error > 0 ? (int)faulty_failed(error) : REAL(unlinkat)(folder, path, flags);
  if (result == 0) {
    faulty_note_path((flags & AT_REMOVEDIR) != 0 ? faulty_rmdir : faulty_unlink, 0, 0, absolute,
                     NULL);
  }
  faulty_leave();
  return result;
}
EXPORT int unlink(const char* path) {
  return unlinkat(AT_FDCWD, path, 0);
}
EXPORT int rmdir(const char* path) {
  return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
EXPORT int remove(const char* path) {
  const int result = unlinkat(AT_FDCWD, path, 0);
  return result != 0 && (errno == EISDIR || errno == EPERM) ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR)
                                                            : result;
}

/* ---- attributes and the rest ---- */

EXPORT int fchmod(int fd, mode_t mode) {
  char path[faulty_path_size];
  if (!faulty_path_of(fd, path)) {
    return REAL(fchmod)(fd, mode);
  }
  faulty_enter();
  const int error = faulty_decide(family_chmod, 1, path, NULL, NULL);
  const int result = error > 0 ? (int)faulty_failed(error) : REAL(fchmod)(fd, mode);
  if (result == 0) {
    faulty_note(faulty_chmod, faulty_inode_of(fd), mode, 0, NULL, 0, NULL);
  }
  faulty_leave();
  return result;
}
EXPORT int fchmodat(int folder, const char* path, mode_t mode, int flags) {
  char absolute[faulty_path_size];
  if (!faulty_path_at(folder, path, absolute)) {
    return REAL(fchmodat)(folder, path, mode, flags);
  }
  faulty_enter();
  const int error = faulty_decide(family_chmod, 1, absolute, NULL, NULL);
  const int result =
      error > 0 ? (int)faulty_failed(error) : REAL(fchmodat)(folder, path, mode, flags);
  if (result == 0) {
    faulty_note(faulty_chmod, faulty_inode_at(absolute), mode, 0, NULL, 0, NULL);
  }
  faulty_leave();
  return result;
}
EXPORT int chmod(const char* path, mode_t mode) {
  return fchmodat(AT_FDCWD, path, mode, 0);
}

EXPORT int futimens(int fd, const struct timespec times[2]) {
  char path[faulty_path_size];
  GUARDED(family_utime, 1, faulty_path_of(fd, path), path, REAL(futimens)(fd, times))
}
EXPORT int utimensat(int folder, const char* path, const struct timespec times[2], int flags) {
  char absolute[faulty_path_size];
  GUARDED(family_utime, 1, faulty_path_at(folder, path, absolute), absolute,
          REAL(utimensat)(folder, path, times, flags))
}
EXPORT int flock(int fd, int operation) {
  char path[faulty_path_size];
  GUARDED(family_flock, 0, faulty_path_of(fd, path), path, REAL(flock)(fd, operation))
}
/* As Linux does, the descriptor is gone also when close() reports an error. */
EXPORT int close(int fd) {
  char path[faulty_path_size];
  if (!faulty_watches(family_close) || !faulty_path_of(fd, path)) {
    return REAL(close)(fd);
  }
  const int error = faulty_decide(family_close, 0, path, NULL, NULL);
  const int result = REAL(close)(fd);
  return error > 0 ? (int)faulty_failed(error) : result;
}

EXPORT long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long word[6];
  for (int i = 0; i < 6; ++i) {
    word[i] = va_arg(list, long);
  }
  va_end(list);
  const char* path = (const char*)word[1];
  if (number == SYS_renameat2) {
    return rename_noted((int)word[0], path, (int)word[2], (const char*)word[3], (unsigned)word[4]);
  }
  char absolute[faulty_path_size];
  if (number == SYS_openat2 && faulty_path_at((int)word[0], path, absolute)) {
    const int error = faulty_decide(family_open, 0, absolute, NULL, NULL);
    if (error > 0) {
      return faulty_failed(error);
    }
  }
  return REAL(syscall)(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
