// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "ingester/consume/liveness_internal.h"

#include <inttypes.h>

void liveness_turn(struct liveness *liveness, uint64_t now_ns, uint64_t limit_ms)
{
	liveness->turn_began_ns = now_ns;
	liveness->turn_ends_ns = limit_ms ? now_ns + limit_ms * NS_PER_MS : 0;
}

void liveness_progress(struct liveness *liveness, uint64_t now_ns)
{
	liveness->progress_ns = now_ns;
}

bool liveness_is_stalled(const struct liveness *liveness, uint64_t now_ns, uint64_t limit_ms)
{
	return now_ns > liveness->progress_ns + limit_ms * NS_PER_MS;
}

bool liveness_check(const struct liveness *liveness, uint64_t now_ns, struct err *why)
{
	uint64_t ends_ns = liveness->turn_ends_ns, began_ns = liveness->turn_began_ns;

	/* Another turn may have begun since now_ns was read. */
	if (!ends_ns || now_ns <= ends_ns)
		return true;
	return err_set(why, ERR_TIMEOUT, "the consumer thread has hung for %" PRIu64 " s",
		       now_ns > began_ns ? (now_ns - began_ns) / NS_PER_SECOND : 0);
}
