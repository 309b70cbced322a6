// SPDX-License-Identifier: Apache-2.0
#include "namer.h"

#include "base/clock.h"
#include "chassis/metrics.h"
#include "querier_limits.h"

enum { LEFT_ALONE = NAMER_UNTOLD + 1 };

static const char *const outcome_names[] = { [NAMER_ANSWERED] = "answered",
					     [NAMER_FAILED] = "failed",
					     [NAMER_UNTOLD] = "abandoned",
					     [LEFT_ALONE] = "left_alone" };
static struct metric requests = {
	.name = "decima_querier_name_requests_total",
	.kind = METRIC_COUNTER,
	.help = "Requests to the symbolizer by what became of them. abandoned: the query ended "
		"before; "
		"left_alone: queries that did not ask, because others had just failed.",
	.label = "result",
	.values = outcome_names,
	.value_count = ARRAY_LEN(outcome_names)
};
struct metric *const namer_metrics[NAMER_METRICS] = { &requests };

void namer_init(struct namer *namer, const struct namer_options *options)
{
	*namer = (struct namer){ .source = options->source, .timeout_ns = options->timeout_ns };
	name_cache_init(&namer->cache, options->cache_max_bytes);
}

void namer_done(struct namer *namer)
{
	name_cache_done(&namer->cache);
}

bool namer_may_ask(struct namer *namer)
{
	uint64_t resume_ns = namer->resume_ns, now_ns = clock_monotonic_ns();
	uint64_t hold_ns = now_ns + namer->timeout_ns + NAME_PAUSE_MS * NS_PER_MS;

	/* The others are held off for as long as finding out can take. */
	if (resume_ns == 0 ||
	    (now_ns >= resume_ns &&
	     atomic_compare_exchange_strong(&namer->resume_ns, &resume_ns, hold_ns)))
		return true;
	metric_add_at(&requests, LEFT_ALONE, 1);
	return false;
}

void namer_tell(struct namer *namer, enum namer_outcome outcome)
{
	uint64_t now_ns = clock_monotonic_ns();

	metric_add_at(&requests, outcome, 1);
	switch (outcome) {
	case NAMER_ANSWERED:
		namer->resume_ns = 0;
		break;
	case NAMER_FAILED:
		namer->resume_ns = now_ns + NAME_PAUSE_MS * NS_PER_MS;
		break;
	case NAMER_UNTOLD: /* if it was to find out, the next one is */
		if (namer->resume_ns)
			namer->resume_ns = now_ns;
		break;
	}
}
