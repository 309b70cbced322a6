// SPDX-License-Identifier: Apache-2.0
/*
 * pool - the samples of recorded programs, to be drawn at random.
 */
#pragma once

#include "profile/sample_set.h"

struct program {
	str comm, exe;
	const uint32_t *samples; /* indexes into pool.set.samples */
	size_t count;
};

struct pool {
	struct sample_set set;
	VEC(struct program) programs; /* those with the most samples first */
};

/* Fill the pool from batches of an agent. Programs with fewer than `least` samples are skipped. */
void pool_init(struct pool *pool, const str *batches, size_t count, size_t least,
	       struct arena *arena);
