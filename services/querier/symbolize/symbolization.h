// SPDX-License-Identifier: Apache-2.0
/*
 * symbolization - the state that all symbolizing queries share: the cache, the source, and a
 * circuit breaker for the source.
 *
 * After a failure no query uses the source for SYMBOLIZER_PAUSE_MS. Then a single query tries it,
 * so that a source that hangs costs its timeout from time to time, not in every query. Any thread.
 */
#pragma once

#include "querier/symbolize/symbol_cache.h"
#include "querier/symbolize/symbol_source_internal.h"

struct symbolization {
	struct symbol_cache cache; /* read freely, as the next two */
	struct symbol_source source;
	uint64_t timeout_ns; /* of all requests of one query */
	/* private */
	_Atomic uint64_t resume_ns; /* monotonic: no requests before; 0: the source works */
};

struct symbolization_options {
	struct symbol_source source;
	uint64_t timeout_ns, cache_max_bytes;
};

void symbolization_init(struct symbolization *symbolization,
			const struct symbolization_options *options);
void symbolization_done(struct symbolization *symbolization);

/* True if the caller may query the source now. It must then report the outcome with
 * symbolization_report(). */
bool symbolization_may_query(struct symbolization *symbolization);

/* SYMBOLIZATION_ABANDONED: the caller stopped waiting, so the state of the source is unknown. */
enum symbolization_outcome {
	SYMBOLIZATION_SUCCEEDED,
	SYMBOLIZATION_FAILED,
	SYMBOLIZATION_ABANDONED
};
void symbolization_report(struct symbolization *symbolization, enum symbolization_outcome outcome);

enum { SYMBOLIZATION_METRICS = 1 };
extern struct metric *const symbolization_metrics[SYMBOLIZATION_METRICS];
