// SPDX-License-Identifier: Apache-2.0
#include "querier/symbolize/symbolization.h"

#include "base/clock.h"
#include "querier/querier_limits.h"
#include "server/metrics/metrics.h"

enum { SKIPPED = SYMBOLIZATION_ABANDONED + 1 };

static const char *const outcome_names[] = { [SYMBOLIZATION_SUCCEEDED] = "answered",
					     [SYMBOLIZATION_FAILED] = "failed",
					     [SYMBOLIZATION_ABANDONED] = "abandoned",
					     [SKIPPED] = "skipped" };
#define SYMBOLIZATION_METRICS(ROW)                                                             \
	ROW(requests, METRIC_COUNTER, "decima_querier_symbolize_requests_total",               \
	    "Requests to the symbolizer, by result. abandoned: the query ended before the "    \
	    "response; skipped: no request was sent, because an earlier one had just failed.", \
	    METRIC_LABEL("result", outcome_names, ARRAY_LEN(outcome_names)))

METRICS(symbolization_metrics, SYMBOLIZATION_METRICS);

void symbolization_init(struct symbolization *symbolization,
			const struct symbolization_options *options)
{
	*symbolization = (struct symbolization){ .source = options->source,
						 .timeout_ns = options->timeout_ns };
	symbol_cache_init(&symbolization->cache, options->cache_max_bytes);
}

void symbolization_done(struct symbolization *symbolization)
{
	symbol_cache_done(&symbolization->cache);
}

bool symbolization_may_query(struct symbolization *symbolization)
{
	uint64_t resume_ns = symbolization->resume_ns, now_ns = clock_monotonic_ns();
	uint64_t hold_ns = now_ns + symbolization->timeout_ns + SYMBOLIZER_PAUSE_MS * NS_PER_MS;

	/*
	 * Other queries skip the source until this attempt is over: at most its timeout and a
	 * pause.
	 */
	if (resume_ns == 0 ||
	    (now_ns >= resume_ns &&
	     atomic_compare_exchange_strong(&symbolization->resume_ns, &resume_ns, hold_ns)))
		return true;
	metric_add_at(&requests, SKIPPED, 1);
	return false;
}

void symbolization_report(struct symbolization *symbolization, enum symbolization_outcome outcome)
{
	uint64_t now_ns = clock_monotonic_ns();

	metric_add_at(&requests, outcome, 1);
	switch (outcome) {
	case SYMBOLIZATION_SUCCEEDED:
		symbolization->resume_ns = 0;
		break;
	case SYMBOLIZATION_FAILED:
		symbolization->resume_ns = now_ns + SYMBOLIZER_PAUSE_MS * NS_PER_MS;
		break;
	case SYMBOLIZATION_ABANDONED: /* if this query was the attempt, the next query is */
		if (symbolization->resume_ns)
			symbolization->resume_ns = now_ns;
		break;
	}
}
