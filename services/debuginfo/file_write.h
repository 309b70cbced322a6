// SPDX-License-Identifier: Apache-2.0
/*
 * file_write - writing one file into the store.
 */
#pragma once

#include "files.h"

/* A file while it is written. Zero is none. */
struct file_write {
	struct files *files; /* NULL: none */
	struct file_key key;
	int fd;
	uint64_t len;
};

/* False with ERR_LIMIT: another one writes it just now. */
bool file_write_begin(struct file_write *write, struct files *files, const struct file_key *key,
		      struct err *err) MUST_CHECK;
bool file_write_add(struct file_write *write, str piece, struct err *err) MUST_CHECK;

/* Without what was written so far. */
bool file_write_restart(struct file_write *write, struct err *err) MUST_CHECK;

/* In place of what was held. False: what was held still is. The write is over in any case. */
bool file_write_commit(struct file_write *write, uint64_t *ret_generation,
		       struct err *err) MUST_CHECK;
void file_write_abandon(struct file_write *write);
