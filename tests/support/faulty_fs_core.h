/* Between the two halves of the library: faulty_fs_core.c decides, faulty_fs_calls.c stands before
 * libc. */
#ifndef CUKIT_TESTS_FAULTY_FS_CORE_H
#define CUKIT_TESTS_FAULTY_FS_CORE_H

#include "faulty_fs.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

enum family {
  family_open,
  family_write,
  family_read,
  family_fsync,
  family_syncfs,
  family_rename,
  family_mkdir,
  family_link,
  family_symlink,
  family_unlink,
  family_flock,
  family_close,
  family_truncate,
  family_fallocate,
  family_copy,
  family_clone,
  family_chmod,
  family_utime,
  family_stat,
  family_count
};

enum { faulty_path_size = 8192, faulty_short = -1 };

/* The path that a call is about; false when it is not under the prefix or nothing is asked of us.
 */
int faulty_path_at(int folder, const char* path, char* absolute);
int faulty_path_of(int fd, char* absolute);

/* Mutations are made one at a time, so that the journal has their true order. */
void faulty_enter(void);
void faulty_leave(void);

/* Counts the call. 0: go on; faulty_short: a short write; else the errno to fail with. Does not
 * return when this is the step to be killed at; `torn` then writes the half that reaches the disk.
 */
int faulty_decide(enum family which, int is_mutation, const char* path, void (*torn)(void*),
                  void* context);
/* The seed of FAULTY_FS_SHUFFLE; 0: folders are listed as they are. */
unsigned long faulty_shuffle_seed(void);
void faulty_tell_shuffle(const char* path);
/* Is anybody interested in calls of this family? */
int faulty_watches(enum family which);

void faulty_note(enum faulty_operation operation, uint64_t inode, uint32_t mode, uint64_t offset,
                 const void* first, size_t first_size, const char* second);
uint64_t faulty_inode_of(int fd);
uint64_t faulty_inode_at(const char* path);

#define EXPORT __attribute__((visibility("default")))

/* The function of that name behind this library. */
#define REAL(name)                                                                                 \
  ({                                                                                               \
    static __typeof__(&name) behind;                                                               \
    if (behind == NULL) {                                                                          \
      behind = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                         \
    }                                                                                              \
    behind;                                                                                        \
  })

static inline void faulty_note_path(enum faulty_operation operation, uint64_t inode, uint32_t mode,
                                    const char* path, const char* second) {
  faulty_note(operation, inode, mode, 0, path, strlen(path), second);
}

static inline long faulty_failed(int error) {
  errno = error;
  return -1;
}

/* A call without a journal entry of its own: counted, perhaps failed, made. */
#define GUARDED(which, is_mutation, ours, path, call)                                              \
  if (!(ours)) {                                                                                   \
    return call;                                                                                   \
  }                                                                                                \
  const int error = faulty_decide(which, is_mutation, path, NULL, NULL);                           \
  if (error > 0) {                                                                                 \
    return (__typeof__(call))faulty_failed(error);                                                 \
  }                                                                                                \
  return call;

#endif
