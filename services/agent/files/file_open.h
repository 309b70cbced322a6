// SPDX-License-Identifier: Apache-2.0
/*
 * file_open - finds and opens the file behind a mapping.
 *
 * The program decima-agent-opener calls these functions, because any of them may hang: a file
 * system of the network or of a user (FUSE) responds when its server likes to, and a process that
 * waits for it cannot be killed. So the agent itself calls none of them. No state; any thread.
 *
 * The process may be gone already. Then the file may still be visible in the root of its parent or
 * of the agent. A file is accepted only if it is known to be the mapped one: it has the same device
 * and inode, or the caller reads its build id and compares that.
 */
#pragma once

#include "agent/process/executable.h"

/* The ways to the file, the most reliable first. */
enum file_way { FILE_MAPPING, FILE_PROCESS_ROOT, FILE_PARENT_ROOT, FILE_OWN_ROOT, FILE_WAY_COUNT };

struct file_location {
	enum file_way way; /* FILE_WAY_COUNT: the file was not found */
	/* The lookup may hang, so it was not done: repeat it with may_wait. */
	bool must_wait;
	/* The file system is one of this machine, mounted by root: it cannot hang, and the file may
	 * be given to other processes. Otherwise file_open() makes a copy. */
	bool is_local;
	/* Only root can write the file: it is local, root's, writable for no other user, and
	 * its mount is not nosuid, as that of a medium that a user brings. */
	bool is_trusted;
	struct executable_key key;
	/* Descriptors that only name a file (O_PATH): to close them cannot hang. The caller closes
	 * them. root: the root directory of the process; -1: it is the agent's own, or unknown. */
	int file, root;
};

/* Finds the file, by the ways from `from` on. may_wait: the lookup of a path may hang. Borrows the
 * claim. */
void file_locate(const struct executable_claim *claim, enum file_way from, bool may_wait,
		 struct file_location *ret_location);

/*
 * Opens a located file for reading; `file` is a descriptor of file_locate(). If it is not local,
 * the result is an unnamed copy of it in memory. The caller closes it. ERR_NOT_FOUND or ERR_IO: the
 * file cannot be opened or read; ERR_LIMIT: it is larger than FILE_COPY_BYTES_MAX and not local.
 */
int file_open(int file, bool is_local, struct err *err) MUST_CHECK;
