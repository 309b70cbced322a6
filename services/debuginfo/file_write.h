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
	uint64_t len, unsynced; /* bytes; unsynced: since the last sync */
	/* set by the caller before the commit, of the file that is stored */
	bool is_trusted;
	bool is_asked_for;             /* a client waits for it */
	const unsigned char *uploader; /* as for files_mark_uploader(); borrowed */
};

/* Begins a write, which the caller ends with file_write_commit() or file_write_abandon(). `files`
 * is kept, `key` is copied. ERR_BUSY: another writer has the lock of the same file; other codes:
 * the temporary file cannot be created. After a failure *write is unchanged. */
bool file_write_begin(struct file_write *write, struct files *files, const struct file_key *key,
		      struct err *err) MUST_CHECK;

/* Appends the piece. ERR_IO: the piece may be written in part; the caller abandons the write. */
bool file_write_add(struct file_write *write, str piece, struct err *err) MUST_CHECK;

/* Discards the bytes written so far and continues with an empty file. ERR_IO: the caller abandons
 * the write. */
bool file_write_restart(struct file_write *write, struct err *err) MUST_CHECK;

/* Replaces the stored file. False: the stored file stays; ERR_LIMIT: the store is full, and no file
 * may be evicted for this one (files_make_room()). If only the fsync of the directory fails,
 * which is logged, the new file is stored and counts as the newest, but the old one stays beside
 * it. The write is over in each case. */
bool file_write_commit(struct file_write *write, uint64_t *ret_generation,
		       struct err *err) MUST_CHECK;

/* Discards the write and releases the lock. Accepts a zeroed struct, and a write that is over. */
void file_write_abandon(struct file_write *write);
