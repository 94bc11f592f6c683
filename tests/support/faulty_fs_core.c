/* What the variables ask for: rules, the step to be killed at, the journal and the report. */
#define _GNU_SOURCE
#include "faulty_fs_core.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { rules_most = 16 };

static const char* const family_names[family_count] = {
    "open", "write",   "read",   "fsync", "syncfs", "rename",   "mkdir",
    "link", "symlink", "unlink", "flock", "close",  "truncate", "fallocate",
    "copy", "clone",   "chmod",  "utime", "stat"};

static const struct {
  const char* name;
  int number;
} error_names[] = {
    {"EIO", EIO},         {"ENOSPC", ENOSPC},         {"EDQUOT", EDQUOT},     {"EROFS", EROFS},
    {"EMFILE", EMFILE},   {"ENFILE", ENFILE},         {"ENOMEM", ENOMEM},     {"ENOLCK", ENOLCK},
    {"ENOSYS", ENOSYS},   {"ESTALE", ESTALE},         {"EXDEV", EXDEV},       {"EPERM", EPERM},
    {"EACCES", EACCES},   {"EMLINK", EMLINK},         {"EINTR", EINTR},       {"EAGAIN", EAGAIN},
    {"EBUSY", EBUSY},     {"EOPNOTSUPP", EOPNOTSUPP}, {"EINVAL", EINVAL},     {"EFBIG", EFBIG},
    {"ETXTBSY", ETXTBSY}, {"ENOTTY", ENOTTY},         {"SHORT", faulty_short}};

struct rule {
  int family; /* -1: every mutation */
  long at;
  int and_later;
  int error;
  char text[256];
  long seen;
};

static struct {
  pid_t process; /* 0: nothing is asked of us */
  char prefix[PATH_MAX];
  struct rule rules[rules_most];
  int rule_count;
  long kill_at;
  unsigned long shuffle;
  long mutations;
  int journal;
  int report;
} plan = {.journal = -1, .report = -1};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* calls and the journal */
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;      /* guards the counters of plan */

static _Noreturn void misused(const char* what, const char* value) {
  fprintf(stderr, "faulty_fs: %s: %s\n", what, value);
  _exit(121);
}

static void read_rule(char* text) {
  if (plan.rule_count == rules_most) {
    misused("too many rules", text);
  }
  struct rule* rule = &plan.rules[plan.rule_count++];
  char* rest = NULL;
  const char* call = strtok_r(text, ":", &rest);
  const char* at = strtok_r(NULL, ":", &rest);
  const char* error = strtok_r(NULL, ":", &rest);
  if (call == NULL || at == NULL || error == NULL) {
    misused("no rule", text);
  }
  rule->family = strcmp(call, "*") == 0 ? -1 : family_count;
  for (int i = 0; i < family_count; ++i) {
    if (strcmp(call, family_names[i]) == 0) {
      rule->family = i;
    }
  }
  char* end = NULL;
  rule->at = strtol(at, &end, 10);
  rule->and_later = *end == '+';
  for (size_t i = 0; i < sizeof error_names / sizeof *error_names; ++i) {
    if (strcmp(error, error_names[i].name) == 0) {
      rule->error = error_names[i].number;
    }
  }
  if (rule->family == family_count || rule->at < 1 || rule->error == 0) {
    misused("a rule with an unknown call, number or error", call);
  }
  snprintf(rule->text, sizeof rule->text, "%s", rest == NULL ? "" : rest);
}

static int open_for_notes(const char* variable) {
  const char* path = getenv(variable);
  if (path == NULL) {
    return -1;
  }
  int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  const int fd = real(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  /* High, so that the program gets the numbers it would have got. */
  const int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 900);
  if (high < 0) {
    return fd;
  }
  int (*real_close)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
  real_close(fd);
  return high;
}

__attribute__((constructor)) static void read_plan(void) {
  const char* prefix = getenv("FAULTY_FS_PREFIX");
  if (prefix == NULL) {
    return;
  }
  snprintf(plan.prefix, sizeof plan.prefix, "%s", prefix);
  const char* rules = getenv("FAULTY_FS_FAIL");
  if (rules != NULL) {
    char* copy = strdup(rules);
    char* rest = NULL;
    for (char* one = strtok_r(copy, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
      read_rule(one);
    }
    free(copy);
  }
  const char* kill_at = getenv("FAULTY_FS_KILL");
  plan.kill_at = kill_at == NULL ? 0 : atol(kill_at);
  const char* shuffle = getenv("FAULTY_FS_SHUFFLE");
  plan.shuffle = shuffle == NULL ? 0 : strtoul(shuffle, NULL, 10);
  plan.journal = open_for_notes("FAULTY_FS_JOURNAL");
  plan.report = open_for_notes("FAULTY_FS_REPORT");
  plan.process = getpid();
}

static int is_ours(const char* path) {
  const size_t size = strlen(plan.prefix);
  return strncmp(path, plan.prefix, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

static int path_of_link(const char* link, char* absolute) {
  const ssize_t size = readlink(link, absolute, faulty_path_size - 1);
  if (size < 0) {
    return 0;
  }
  absolute[size] = '\0';
  return 1;
}

int faulty_path_of(int fd, char* absolute) {
  const int kept = errno;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const int ours = plan.process != 0 && plan.process == getpid() && path_of_link(link, absolute) &&
                   is_ours(absolute);
  errno = kept;
  return ours;
}

int faulty_path_at(int folder, const char* path, char* absolute) {
  if (plan.process == 0 || plan.process != getpid() || path == NULL) {
    return 0;
  }
  const int kept = errno;
  int ours = 0;
  if (path[0] == '/') {
    snprintf(absolute, faulty_path_size, "%s", path);
    ours = 1;
  } else {
    char link[64] = "/proc/self/cwd";
    if (folder != AT_FDCWD) {
      snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    }
    if (path_of_link(link, absolute)) {
      const size_t size = strlen(absolute);
      snprintf(absolute + size, faulty_path_size - size, "/%s", path);
      ours = 1;
    }
  }
  errno = kept;
  return ours && is_ours(absolute);
}

void faulty_enter(void) {
  pthread_mutex_lock(&one_at_a_time);
}
void faulty_leave(void) {
  pthread_mutex_unlock(&one_at_a_time);
}

int faulty_watches(enum family which) {
  if (plan.process == 0) {
    return 0;
  }
  for (int i = 0; i < plan.rule_count; ++i) {
    if (plan.rules[i].family == (int)which) {
      return 1;
    }
  }
  return 0;
}

static void tell_line(const char* what, const char* call, long number, const char* path) {
  if (plan.report < 0) {
    return;
  }
  char line[faulty_path_size + 64];
  const int size = snprintf(line, sizeof line, "%s %s %ld %s\n", what, call, number, path);
  const struct iovec piece = {line, (size_t)size};
  if (writev(plan.report, &piece, 1) < 0) {
    misused("cannot write the report", path);
  }
}

static void tell(const char* what, enum family which, long number, const char* path) {
  tell_line(what, family_names[which], number, path);
}

unsigned long faulty_shuffle_seed(void) {
  return plan.process != 0 && plan.process == getpid() ? plan.shuffle : 0;
}
void faulty_tell_shuffle(const char* path) {
  tell_line("shuffle", "readdir", (long)plan.shuffle, path);
}

static int decide(enum family which, int is_mutation, const char* path) {
  for (int i = 0; i < plan.rule_count; ++i) {
    struct rule* rule = &plan.rules[i];
    const int counts = (rule->family == (int)which || (rule->family == -1 && is_mutation)) &&
                       strstr(path, rule->text) != NULL;
    if (!counts) {
      continue;
    }
    ++rule->seen;
    if (rule->seen == rule->at || (rule->and_later && rule->seen > rule->at)) {
      tell("fail", which, rule->seen, path);
      return rule->error;
    }
  }
  return 0;
}

int faulty_decide(enum family which, int is_mutation, const char* path, void (*torn)(void*),
                  void* context) {
  const int kept = errno;
  pthread_mutex_lock(&counting);
  if (is_mutation && ++plan.mutations == plan.kill_at) {
    tell("kill", which, plan.mutations, path);
    if (torn != NULL) {
      torn(context);
    }
    kill(plan.process, SIGKILL);
    pause();
  }
  const int error = decide(which, is_mutation, path);
  pthread_mutex_unlock(&counting);
  errno = kept;
  return error;
}

void faulty_note(enum faulty_operation operation, uint64_t inode, uint32_t mode, uint64_t offset,
                 const void* first, size_t first_size, const char* second) {
  if (plan.journal < 0) {
    return;
  }
  const int kept = errno;
  const size_t second_size = second == NULL ? 0 : strlen(second);
  struct faulty_record record = {.operation = (uint32_t)operation,
                                 .mode = mode,
                                 .inode = inode,
                                 .offset = offset,
                                 .first_size = (uint32_t)first_size,
                                 .second_size = (uint32_t)second_size};
  const struct iovec pieces[3] = {{&record, sizeof record},
                                  {(void*)(uintptr_t)first, first_size},
                                  {(void*)(uintptr_t)second, second_size}};
  const ssize_t size = (ssize_t)(sizeof record + first_size + second_size);
  ssize_t (*real)(int, const struct iovec*, int) =
      (ssize_t(*)(int, const struct iovec*, int))dlsym(RTLD_NEXT, "writev");
  if (real(plan.journal, pieces, 3) != size) {
    misused("cannot write the journal", "");
  }
  errno = kept;
}

uint64_t faulty_inode_of(int fd) {
  const int kept = errno;
  struct stat info;
  const int failed = fstat(fd, &info);
  errno = kept;
  return failed ? 0 : info.st_ino;
}

uint64_t faulty_inode_at(const char* path) {
  const int kept = errno;
  struct stat info;
  const int failed = lstat(path, &info);
  errno = kept;
  return failed ? 0 : info.st_ino;
}
