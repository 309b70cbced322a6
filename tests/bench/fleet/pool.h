// SPDX-License-Identifier: Apache-2.0
/*
 * pool - what recorded programs did: their samples, to be drawn from at random.
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
	VEC(struct program) programs; /* with the most samples first */
};

/* Of batches as an agent sent them. Programs of fewer than `least` samples are left out. */
void pool_init(struct pool *pool, const str *batches, size_t count, size_t least,
	       struct arena *arena);
