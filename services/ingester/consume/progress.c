// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "ingester/consume/progress_internal.h"

void progress_made(struct progress *progress, uint64_t now_ns)
{
	progress->made_ns = now_ns;
}

bool progress_is_stalled(const struct progress *progress, uint64_t now_ns, uint64_t limit_ms)
{
	return now_ns > progress->made_ns + limit_ms * NS_PER_MS;
}
