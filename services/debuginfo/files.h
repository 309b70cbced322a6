// SPDX-License-Identifier: Apache-2.0
/*
 * files - the store of debug files: a directory that several processes may share.
 *
 *     DIR/files/6f/3c1e8a.../debuginfo-1787479200123    a file, and its generation
 *     DIR/files/6f/3c1e8a.../executable-...
 *     DIR/files/01/htlhash-23.../debuginfo-...
 *     DIR/temp/6f3c1e8a....debuginfo                    while it is written, locked by its writer
 *     DIR/name                                          16 random digits: which store this is
 *
 * The disk is the truth; nothing but a sum is kept in memory. A file appears whole, by a rename
 * after its fsync, and is never changed: a better one comes beside it with a higher generation, and
 * then the old one goes. A generation is the time in milliseconds at which a file came, or one more
 * than its predecessor's, so it never comes back, also after an eviction. The temporary file is the
 * lock: who has flock() on it is the one writer of that file, in all processes, and a writer that
 * dies lets go. The least recently read go first when the quota is exceeded (atime, set by us).
 *
 * Any thread. Only a file_write belongs to one.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "object/build_id.h"

#include <pthread.h>

enum { FILES_NAME_LEN = 16 };

struct files {
	_Atomic uint64_t bytes, count; /* of held files, as far as this process knows */
	char name[FILES_NAME_LEN + 1]; /* of this store and no other, whoever works on it */
	/* private */
	int directory; /* -1: closed */
	uint64_t max_bytes;
	pthread_mutex_t evicting;
};

bool files_open(struct files *files, const char *path, uint64_t max_bytes,
		struct err *err) MUST_CHECK;
void files_close(struct files *files);

/* Whether the directory can be written to. */
bool files_is_writable(const struct files *files, struct err *why);

/* Which file of a build id. */
struct file_key {
	struct build_id id;
	char name[48]; /* debuginfo, executable, source.HASH */
};

struct file_key file_key_debuginfo(const struct build_id *id);
struct file_key file_key_executable(const struct build_id *id);
struct file_key file_key_source(const struct build_id *id, str path);

struct stored_file {
	int fd; /* yours to close */
	uint64_t size, generation;
};

/* False: it is not held. Counts as being read. */
bool files_find(const struct files *files, const struct file_key *key,
		struct stored_file *ret_file);

/* 0: it is not held. */
uint64_t files_generation(const struct files *files, const struct file_key *key);

/* Add to what is held; both may be negative numbers, modulo 2^64. */
void files_account(struct files *files, uint64_t bytes, uint64_t count);

enum { FILES_METRICS = 2 };
extern struct metric *const files_metrics[FILES_METRICS];
