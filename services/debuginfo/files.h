// SPDX-License-Identifier: Apache-2.0
/*
 * files - the store of debug files: a directory that several processes may share.
 *
 *     DIR/files/6f/3c1e8a.../debuginfo-1787479200123    a file, with its generation
 *     DIR/files/6f/3c1e8a.../debuginfo-1787479200456.trusted
 *     DIR/files/6f/3c1e8a.../executable-...
 *     DIR/files/01/htlhash-23.../debuginfo-...
 *     DIR/temp/6f3c1e8a....debuginfo                    a file being written, locked by its writer
 *     DIR/name                                          16 random hex digits: identify the store
 *     DIR/check                                         a byte that is written to check the disk
 *
 * - The directory is the only state; memory holds only the sums of files and bytes.
 * - A file appears complete, by a rename after its fsync, and is never modified. A better file gets
 *   a higher generation and is stored beside the old one; then the old one is removed.
 * - A generation is the Unix time in milliseconds at which the file was stored, or the generation
 *   of its predecessor + 1 if that is higher. So a generation is never reused, even after an
 *   eviction.
 * - A file is trusted if an authorized source vouches for it (replacement.h). Its name says so.
 *   Files that were stored before names said so are not trusted.
 * - The temporary file is the lock: the process that has flock() on it is the only writer of that
 *   file, in all processes. If the writer dies, the kernel releases the lock.
 * - The atime of a file is the time at which a client last asked for it, 0 if none has: only
 *   files_mark_asked() sets it. If the store is full, the files that no client asked for are
 *   evicted first, then those for which no client asked for the longest time.
 * - An uploaded file has the address of its uploader in the attribute user.decima.uploader, if the
 *   file system has attributes.
 *
 * Any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "elf/build_id.h"

#include <pthread.h>

enum { FILES_NAME_LEN = 16 };

struct files {
	_Atomic uint64_t bytes, count; /* of stored files, as far as this process knows */
	_Atomic uint64_t asked_bytes;  /* of files asked for lately, at the last scan */
	char name[FILES_NAME_LEN + 1]; /* of this store; the same in all processes that share it */
	/* private */
	bool is_open;
	int directory;
	uint64_t max_bytes;
	pthread_mutex_t lock; /* of room, and of a scan */
	uint64_t reserved;    /* bytes of files that are about to be stored */
};

/* Creates the directory if needed, removes the temporary files of writers that died, and scans the
 * store. `path` is not kept. ERR_IO or ERR_NOT_FOUND: the directory cannot be created or written
 * to; nothing is open then. */
bool files_open(struct files *files, const char *path, uint64_t max_bytes,
		struct err *err) MUST_CHECK;

/* Accepts a struct that is zeroed or closed, or whose files_open() failed. The caller has joined
 * all threads that use the store. */
void files_close(struct files *files);

/* Writes a byte and waits for the disk. False, with the reason: the directory cannot be written to.
 * A disk that is full can. */
bool files_is_writable(const struct files *files, struct err *why);

/* Identifies a file of a build id. */
struct file_key {
	struct build_id id;
	char name[48]; /* debuginfo, executable, source.HASH */
};

struct file_key file_key_debuginfo(const struct build_id *id);
struct file_key file_key_executable(const struct build_id *id);
struct file_key file_key_source(const struct build_id *id, str path);

struct stored_file {
	int fd; /* the caller closes it */
	uint64_t size, generation;
	bool is_trusted;
};

/* Opens the newest generation of a file. The caller closes
 * ret_file->fd, which stays readable after an eviction. False, with *ret_file unchanged: the file
 * is not stored, or cannot be opened. */
bool files_find(const struct files *files, const struct file_key *key,
		struct stored_file *ret_file);

enum { FILES_CLIENT_LEN = 16 };

/* Notes who uploaded a file that is being written. client: FILES_CLIENT_LEN bytes; NULL: unknown.
 * Has no effect if the file system has no attributes. */
void files_mark_uploader(int fd, const unsigned char *client);

/* A client asks for the file. If it is the one that uploaded the file, this counts as a request of
 * a day ago (ASKED_LATELY_SECONDS): no client protects its own uploads from eviction. client: as
 * above. Has no effect in a store that cannot be written to. */
void files_mark_asked(int fd, const unsigned char *client);

/* The newest stored generation; 0: the file is not stored, or the store cannot be read. */
uint64_t files_generation(const struct files *files, const struct file_key *key);

/* Add to the counters, for file_write and files_sweep. A negative number is passed modulo 2^64. */
void files_account(struct files *files, uint64_t bytes, uint64_t count);

extern struct metric *const files_metrics[];
