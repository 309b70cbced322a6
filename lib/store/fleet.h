// SPDX-License-Identifier: Apache-2.0
/*
 * fleet - what is known of each host that sends numbered batches, and its closing sum.
 *
 * Hosts are handed out one by one, sorted by host id, so that a fleet of any size is read with the
 * memory of one of them.
 */
#pragma once

#include "store/balance.h"
#include "store/reader.h"

struct fleet_host {
	str host;              /* its id: the key of its messages */
	str node, version;     /* as its newest spool said; empty where it has not */
	uint64_t last_seen_ms; /* Unix ms: when its newest batch was spooled, by its own clock */
	struct closing_sum sum;
};

struct fleet_sink {
	/* The host lives until this returns. ret_more false: no further host is wanted. */
	bool (*take)(void *self, const struct fleet_host *host, bool *ret_more, struct err *err);
	void *self;
};

/* All hosts whose id comes after `after` (by bytes; empty: all), within the reader's snapshot. */
bool store_reader_fleet(struct store_reader *reader, str after, const struct fleet_sink *sink,
			struct err *err) MUST_CHECK;
