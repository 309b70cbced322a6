// SPDX-License-Identifier: Apache-2.0
/*
 * keeper - what the tables need from time to time: partitions before anybody wants them, an end to
 * what is past its time (retention.h), an end to writers that stand still (janitor.h).
 *
 * Some of it waits for queries, half a minute perhaps. So it has a connection of its own, which is
 * there during a round only, and a thread that stores nothing. Any number may do this at once.
 */
#pragma once

#include "client/postgres.h"

struct store_keeper_options {
	const char *postgres; /* libpq conninfo or URI */
	uint64_t retention_raw_ns, retention_rollup_ns;
	uint64_t detach_ms; /* how long to wait for queries before another round; 0: 30 s */
	uint64_t now_ms;    /* by our clock; 0: ask it */
	const struct stop *stop;
};

struct store_keeper {
	/* read freely: since init */
	uint64_t partitions_made, partitions_dropped;
	uint64_t writers_ended; /* others, that stood still and held something */
	/* private */
	struct store_keeper_options options;
	struct postgres pg;
};

void store_keeper_init(struct store_keeper *maintenance,
		       const struct store_keeper_options *options);

/* A round; about one a minute will do. ERR_NOT_FOUND: nobody has made the tables yet. */
bool store_keeper_run(struct store_keeper *maintenance, struct err *err) MUST_CHECK;
