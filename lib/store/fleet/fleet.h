// SPDX-License-Identifier: Apache-2.0
/*
 * fleet - the hosts that send numbered batches, each with the balance of its samples.
 *
 * Hosts are passed to a callback one by one, sorted by host id, so that reading a fleet of any size
 * needs the memory of one host. A host has one or more spools, and its balance is their sum. One
 * thread per reader.
 */
#pragma once

#include "store/fleet/balance.h"
#include "store/scan/reader.h"

struct fleet_host {
	str host;              /* host id: the key of the Kafka messages of the host */
	str node, version;     /* from the newest spool with a readable status; empty if unknown */
	uint64_t last_seen_ms; /* Unix ms: when its newest batch was spooled, by the host's clock */
	/* That send now, at least 1: more than one agent has the same node and machine id. */
	uint64_t agents;
	struct balance balance;
};

struct fleet_sink {
	/*
	 * Called for each host; *host and its texts are valid until the callback returns. Set
	 * *ret_more, which is true before, to false to end the reading without an error. False:
	 * the reading ends with this error.
	 */
	bool (*on_host)(void *self, const struct fleet_host *host, bool *ret_more, struct err *err);
	void *self;
};

/*
 * Reads the hosts with an id above `after` (by bytes; empty: all), within the snapshot of
 * store_reader_begin(). ERR_IO: PostgreSQL failed. ERR_CANCELLED, ERR_TIMEOUT: the bounds
 * ended. ERR_CORRUPT: a stored row is malformed. Errors of the sink are returned
 * unchanged. After a failure, some hosts may have been passed; end the snapshot.
 */
bool store_reader_fleet(struct store_reader *reader, str after, const struct fleet_sink *sink,
			struct err *err) MUST_CHECK;
