// SPDX-License-Identifier: Apache-2.0
/*
 * namer - what all queries share that look for names: the cache, the source, and whether it is
 * well.
 *
 * A source that has failed is left alone for a moment by all; then one query alone finds out
 * whether it is well again, so that one that hangs costs its timeout once in a while, not each
 * query.
 */
#pragma once

#include "name_cache.h"
#include "name_source.h"

struct namer {
	struct name_cache cache; /* read freely, as the next two */
	struct name_source source;
	uint64_t timeout_ns; /* of all that one query asks */
	/* private */
	_Atomic uint64_t resume_ns; /* monotonic: nobody asks before; 0: it is well */
};

struct namer_options {
	struct name_source source;
	uint64_t timeout_ns, cache_max_bytes;
};

void namer_init(struct namer *namer, const struct namer_options *options);
void namer_done(struct namer *namer);

/* Whether to ask the source, now. Who is told so says afterwards what became of it. */
bool namer_may_ask(struct namer *namer);

/* NAMER_UNTOLD: whoever asked did not wait for the end. */
enum namer_outcome { NAMER_ANSWERED, NAMER_FAILED, NAMER_UNTOLD };
void namer_tell(struct namer *namer, enum namer_outcome outcome);

enum { NAMER_METRICS = 1 };
extern struct metric *const namer_metrics[NAMER_METRICS];
