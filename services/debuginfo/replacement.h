// SPDX-License-Identifier: Apache-2.0
/*
 * replacement - whether a debug file may take the place of the stored one.
 *
 * A file is trusted if a user without privileges cannot have made it: an agent has seen it as a
 * file that only root can write, or a client with the upload token, or an upstream server, vouches
 * for it. A trusted file replaces an untrusted one, whatever the ranks, and never the other way
 * round. Of two equally trusted files the better one replaces the other, if both can be of one
 * build
 * ("elf/same_build.h"). Any thread.
 */
#pragma once

#include "debuginfo/files.h"
#include "elf/debug_rank.h"

enum replacement {
	REPLACEMENT_BETTER, /* or no file is stored */
	REPLACEMENT_NO_BETTER,
	REPLACEMENT_CONTRADICTS, /* better, but of another build, or too large to compare */
	REPLACEMENT_COUNT
};

/* What is known of a file, or claimed. */
struct debug_claim {
	enum debug_rank rank;
	bool is_trusted;
};

/* Compares with the stored file by rank and trust only: never REPLACEMENT_CONTRADICTS. */
enum replacement replacement_of_claim(const struct files *files, const struct file_key *key,
				      struct debug_claim claim);

/* The file at fd was verified, and `claim` is true. REPLACEMENT_CONTRADICTS: `why` says where. */
enum replacement replacement_of_file(const struct files *files, const struct file_key *key, int fd,
				     struct debug_claim claim, struct err *why);
