// SPDX-License-Identifier: Apache-2.0
/*
 * fleet - the hosts that send numbered batches, each with the balance of its samples.
 *
 * Hosts are passed to a callback one by one, sorted by host id, so that reading a fleet of any size
 * needs the memory of one host.
 */
#pragma once

#include "store/fleet/balance.h"
#include "store/scan/reader.h"

struct fleet_host {
	str host;              /* host id: the key of its messages */
	str node, version;     /* from the status of its newest spool; empty if unknown */
	uint64_t last_seen_ms; /* Unix ms: when its newest batch was spooled, by the host's clock */
	struct balance balance;
};

struct fleet_sink {
	/* Called for each host, which lives until the callback returns. *ret_more false: stop. */
	bool (*on_host)(void *self, const struct fleet_host *host, bool *ret_more, struct err *err);
	void *self;
};

/* Reads the hosts with an id above `after` (by bytes; empty: all), within the snapshot. */
bool store_reader_fleet(struct store_reader *reader, str after, const struct fleet_sink *sink,
			struct err *err) MUST_CHECK;
