// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/replacement.h"

#include "debuginfo/verify.h"
#include "elf/same_build.h"

#include <pthread.h>

static bool outranks(struct debug_claim claim, struct debug_claim stored)
{
	if (claim.is_trusted != stored.is_trusted)
		return claim.is_trusted;
	return claim.rank > stored.rank;
}

static bool find_stored(const struct files *files, const struct file_key *key,
			struct stored_file *ret_file, struct debug_claim *ret_claim)
{
	if (!files_find(files, key, ret_file))
		return false;
	*ret_claim = (struct debug_claim){ .rank = verified_contents(ret_file->fd).rank,
					   .is_trusted = ret_file->is_trusted };
	return true;
}

enum replacement replacement_of_claim(const struct files *files, const struct file_key *key,
				      struct debug_claim claim)
{
	struct stored_file stored;
	struct debug_claim is;

	if (!find_stored(files, key, &stored, &is))
		return REPLACEMENT_BETTER;
	close(stored.fd);
	return outranks(claim, is) ? REPLACEMENT_BETTER : REPLACEMENT_NO_BETTER;
}

enum replacement replacement_of_file(const struct files *files, const struct file_key *key, int fd,
				     struct debug_claim claim, struct err *why)
{
	/* To compare symbols needs much memory: one pair of files at a time. */
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	enum replacement result = REPLACEMENT_NO_BETTER;
	struct stored_file stored;
	struct debug_claim is;

	if (!find_stored(files, key, &stored, &is))
		return REPLACEMENT_BETTER;
	if (outranks(claim, is)) {
		pthread_mutex_lock(&one_at_a_time);
		result = claim.is_trusted != is.is_trusted || same_build_check(stored.fd, fd, why)
				 ? REPLACEMENT_BETTER
				 : REPLACEMENT_CONTRADICTS;
		pthread_mutex_unlock(&one_at_a_time);
	}
	close(stored.fd);
	return result;
}
