// SPDX-License-Identifier: Apache-2.0
/*
 * scratch - a temporary directory for a test.
 */
#pragma once

#include "base/base.h"

#include <ftw.h>
#include <stdio.h>

struct scratch {
	char path[64];
};

static inline struct scratch scratch_make(void)
{
	struct scratch scratch = { "/tmp/decima-test-XXXXXX" };

	if (!mkdtemp(scratch.path))
		abort();
	return scratch;
}

static inline int scratch_unlink(const char *path, const struct stat *stat, int kind,
				 struct FTW *ftw)
{
	(void)stat, (void)kind, (void)ftw;
	return remove(path);
}

static inline void scratch_remove(struct scratch *scratch)
{
	nftw(scratch->path, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
}
