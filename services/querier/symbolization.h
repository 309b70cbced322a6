// SPDX-License-Identifier: Apache-2.0
/*
 * symbolization - what all queries share that look for names: the cache, the source, and whether it
 * is well.
 *
 * A source that has failed is left alone for a moment by all; then one query alone finds out
 * whether it is well again, so that one that hangs costs its timeout once in a while, not each
 * query.
 */
#pragma once

#include "symbol_cache.h"
#include "symbol_source.h"

struct symbolization {
	struct symbol_cache cache; /* read freely, as the next two */
	struct symbol_source source;
	uint64_t timeout_ns; /* of all that one query asks */
	/* private */
	_Atomic uint64_t resume_ns; /* monotonic: nobody asks before; 0: it is well */
};

struct symbolization_options {
	struct symbol_source source;
	uint64_t timeout_ns, cache_max_bytes;
};

void symbolization_init(struct symbolization *symbolization,
			const struct symbolization_options *options);
void symbolization_done(struct symbolization *symbolization);

/* Whether to ask the source, now. Who is told so says afterwards what became of it. */
bool symbolization_may_query(struct symbolization *symbolization);

/* SYMBOLIZATION_ABANDONED: whoever asked did not wait for the end. */
enum symbolization_outcome {
	SYMBOLIZATION_ANSWERED,
	SYMBOLIZATION_FAILED,
	SYMBOLIZATION_ABANDONED
};
void symbolization_report(struct symbolization *symbolization, enum symbolization_outcome outcome);

enum { SYMBOLIZATION_METRICS = 1 };
extern struct metric *const symbolization_metrics[SYMBOLIZATION_METRICS];
