// SPDX-License-Identifier: Apache-2.0
/*
 * file_write - writes one file into the store: begin, add pieces, then commit or abandon.
 *
 * The file is written to a temporary file under a lock, so it has one writer in all processes. A
 * commit does: fsync the file, rename it into place, fsync its directory, remove its predecessor. A
 * crash in between leaves the old file, or both, of which the newer one counts. A file_write
 * belongs to one thread.
 */
#pragma once

#include "debuginfo/files.h"

/* A write in progress. The zero value is no write. */
struct file_write {
	struct files *files; /* NULL: no write is in progress */
	struct file_key key;
	int fd;
	uint64_t len;
};

/* ERR_LIMIT: another writer has the lock of the same file. */
bool file_write_begin(struct file_write *write, struct files *files, const struct file_key *key,
		      struct err *err) MUST_CHECK;
bool file_write_add(struct file_write *write, str piece, struct err *err) MUST_CHECK;

/* Discard the bytes written so far and continue with an empty file. */
bool file_write_restart(struct file_write *write, struct err *err) MUST_CHECK;

/* Replace the stored file. On failure the stored file stays. The write is over in both cases. */
bool file_write_commit(struct file_write *write, uint64_t *ret_generation,
		       struct err *err) MUST_CHECK;

/* Discard the write. A zero file_write is accepted. */
void file_write_abandon(struct file_write *write);
