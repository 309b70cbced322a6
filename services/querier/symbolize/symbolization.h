// SPDX-License-Identifier: Apache-2.0
/*
 * symbolization - the state that all symbolizing queries share: the cache, the source, and a
 * circuit breaker for the source.
 *
 * After a failure no query uses the source for SYMBOLIZER_PAUSE_MS. Then a single query tries the
 * source, so that a source that hangs costs its timeout from time to time, not in every query. Any
 * thread.
 */
#pragma once

#include "querier/symbolize/symbol_cache.h"
#include "querier/symbolize/symbol_source_internal.h"

struct symbolization {
	struct symbol_cache cache; /* any thread may use the cache, `source` and `timeout_ns` */
	struct symbol_source source;
	uint64_t timeout_ns; /* of all requests of one query */
	/* private */
	_Atomic uint64_t resume_ns; /* monotonic: no requests before; 0: the source works */
};

struct symbolization_options {
	struct symbol_source source;
	uint64_t timeout_ns, cache_max_bytes;
};

/* Copies `options`; the source must outlive the struct. Cannot fail. The struct must not move until
 * symbolization_done(). */
void symbolization_init(struct symbolization *symbolization,
			const struct symbolization_options *options);

/* Frees the cache. All binaries must have been released. */
void symbolization_done(struct symbolization *symbolization);

/* True if the caller may query the source now; the caller must then report the outcome of each
 * request with symbolization_report(). False: the caller continues with cached symbols. */
bool symbolization_may_query(struct symbolization *symbolization);

/* SYMBOLIZATION_ABANDONED: the caller stopped waiting, so the state of the source is unknown. */
enum symbolization_outcome {
	SYMBOLIZATION_SUCCEEDED,
	SYMBOLIZATION_FAILED,
	SYMBOLIZATION_ABANDONED
};

/* Reports the outcome of a request. A failure pauses requests, a success ends a pause. */
void symbolization_report(struct symbolization *symbolization, enum symbolization_outcome outcome);

extern struct metric *const symbolization_metrics[];
