/* The functions of libc that look at names: stat, and readdir in a shuffled order. */
#define _GNU_SOURCE
#include "faulty_fs_core.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "one list serves both names");
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one function serves both names");

/* ---- stat ---- */

static int stat_counted(int folder, const char* path, struct stat* info, int flags) {
  char absolute[faulty_path_size];
  if (faulty_watches(family_stat) && faulty_path_at(folder, path, absolute)) {
    const int error = faulty_decide(family_stat, 0, absolute, NULL, NULL);
    if (error > 0) {
      return (int)faulty_failed(error);
    }
  }
  return REAL(fstatat)(folder, path, info, flags);
}
EXPORT int stat(const char* path, struct stat* info) {
  return stat_counted(AT_FDCWD, path, info, 0);
}
EXPORT int lstat(const char* path, struct stat* info) {
  return stat_counted(AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW);
}
EXPORT int fstatat(int folder, const char* path, struct stat* info, int flags) {
  return stat_counted(folder, path, info, flags);
}
EXPORT int stat64(const char* path, struct stat64* info) {
  return stat_counted(AT_FDCWD, path, (struct stat*)info, 0);
}
EXPORT int lstat64(const char* path, struct stat64* info) {
  return stat_counted(AT_FDCWD, path, (struct stat*)info, AT_SYMLINK_NOFOLLOW);
}
EXPORT int fstatat64(int folder, const char* path, struct stat64* info, int flags) {
  return stat_counted(folder, path, (struct stat*)info, flags);
}

/* ---- readdir ---- */

/* An open folder whose names are given out in our order. */
struct listing {
  DIR* stream;
  struct dirent* entries;
  size_t count;
  size_t next;
  struct listing* after;
};
static struct listing* listings;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of the list */

static struct listing* find_listing(DIR* stream) {
  struct listing* found = listings;
  while (found != NULL && found->stream != stream) {
    found = found->after;
  }
  return found;
}

static void shuffle(struct listing* listing, unsigned long seed) {
  for (size_t i = listing->count; i > 1; --i) {
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    const size_t other = (size_t)(seed >> 33) % i;
    const struct dirent kept = listing->entries[i - 1];
    listing->entries[i - 1] = listing->entries[other];
    listing->entries[other] = kept;
  }
}

static struct listing* make_listing(DIR* stream) {
  struct listing* listing = calloc(1, sizeof *listing);
  size_t room = 0;
  const struct dirent* entry;
  while (listing != NULL && (entry = REAL(readdir)(stream)) != NULL) {
    if (listing->count == room) {
      room = room == 0 ? 16 : 2 * room;
      struct dirent* grown = realloc(listing->entries, room * sizeof *grown);
      if (grown == NULL) {
        abort();
      }
      listing->entries = grown;
    }
    memcpy(&listing->entries[listing->count++], entry, entry->d_reclen);
  }
  if (listing == NULL) {
    abort();
  }
  listing->stream = stream;
  listing->after = listings;
  listings = listing;
  return listing;
}

static struct dirent* next_of(DIR* stream) {
  char path[faulty_path_size];
  const unsigned long seed = faulty_shuffle_seed();
  if (seed == 0 || !faulty_path_of(dirfd(stream), path)) {
    return REAL(readdir)(stream);
  }
  pthread_mutex_lock(&guard);
  struct listing* listing = find_listing(stream);
  if (listing == NULL) {
    listing = make_listing(stream);
    shuffle(listing, seed);
    faulty_tell_shuffle(path);
  }
  struct dirent* entry = listing->next < listing->count ? &listing->entries[listing->next++] : NULL;
  pthread_mutex_unlock(&guard);
  return entry;
}

EXPORT struct dirent* readdir(DIR* stream) {
  return next_of(stream);
}
EXPORT struct dirent64* readdir64(DIR* stream) {
  return (struct dirent64*)next_of(stream);
}
EXPORT int closedir(DIR* stream) {
  pthread_mutex_lock(&guard);
  for (struct listing** at = &listings; *at != NULL; at = &(*at)->after) {
    if ((*at)->stream == stream) {
      struct listing* gone = *at;
      *at = gone->after;
      free(gone->entries);
      free(gone);
      break;
    }
  }
  pthread_mutex_unlock(&guard);
  return REAL(closedir)(stream);
}
