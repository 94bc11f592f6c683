/*
 * A library to put before libc (LD_PRELOAD) that makes the file system fail, kills the process at a
 * chosen step, or writes down what was changed. Only paths under a prefix are touched, only the
 * process that loaded it counts (a child between fork and exec does nothing), and nothing happens
 * without the variables:
 *
 *   FAULTY_FS_PREFIX=DIR          which paths count; needed
 *   FAULTY_FS_FAIL=RULE[,RULE]    RULE is CALL:N:ERROR or CALL:N:ERROR:TEXT
 *       CALL   open write read fsync syncfs rename mkdir link symlink unlink flock close truncate
 *              fallocate copy clone chmod utime stat, or * for every mutation
 *       N      the N-th such call fails, from 1; "N+": this one and all later ones
 *       ERROR  ENOSPC, EIO, ... by name; SHORT: a write takes half of the bytes
 *       TEXT   only calls whose path has this text are counted
 *   FAULTY_FS_SHUFFLE=SEED        folders list their names in another order
 *   FAULTY_FS_KILL=N              SIGKILL instead of the N-th mutation; a write is torn in half
 *   FAULTY_FS_JOURNAL=FILE        every mutation and sync that succeeded, as struct faulty_record
 *   FAULTY_FS_REPORT=FILE         a line for each fault that was injected: "CALL N PATH"
 *
 * A family covers all its variants: rename is rename, renameat and renameat2 (also through
 * syscall()), open is open, openat and openat2, unlink is also rmdir and remove, stat is also lstat
 * and fstatat. C++ tests use
 * support/faults.hpp, which sets the variables.
 */
#ifndef CUKIT_TESTS_FAULTY_FS_H
#define CUKIT_TESTS_FAULTY_FS_H

#include <stdint.h>

enum faulty_operation {
  faulty_create = 1, /* inode, mode, first = path */
  faulty_mkdir,      /* inode, mode, first = path */
  faulty_symlink,    /* inode, first = path, second = target */
  faulty_link,       /* inode, first = path, second = path of the old name */
  faulty_rename,     /* first = old path, second = new path */
  faulty_unlink,     /* first = path */
  faulty_rmdir,      /* first = path */
  faulty_write,      /* inode, offset, first = the bytes */
  faulty_truncate,   /* inode, offset = the new size */
  faulty_chmod,      /* inode, mode */
  faulty_fsync,      /* inode: of a file or a folder */
  faulty_syncfs
};

/* A record of the journal, followed by first_size and second_size bytes. Paths are absolute. */
struct faulty_record {
  uint32_t operation;
  uint32_t mode;
  uint64_t inode;
  uint64_t offset;
  uint32_t first_size;
  uint32_t second_size;
};

#endif
