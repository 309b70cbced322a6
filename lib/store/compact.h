/*
 * compact - merges rows as they came into fewer and larger ones, by the hour of their samples.
 *
 * A flush leaves a row per bucket each ten seconds. Minutes later all rows of a bucket that arrived
 * in the same hour are read, merged and written to `chunk`; the same transaction marks them as
 * merged, so each sample is seen once at any time, and a compactor that dies leaves nothing.
 * Readers take rows that are not marked. A marked row goes with its partition.
 *
 * Rows are claimed by locking them, and who meets locked ones takes others: any number of ingesters
 * may do this at once. A transaction takes about a second; no flush and no query waits for it. A
 * row that cannot be read is marked so and left where it is. One thread.
 */
#pragma once

#include "client/postgres.h"

struct store_compactor_options {
	const char *postgres; /* libpq conninfo or URI */
	uint64_t age_ms;      /* of the oldest row of a bucket before its rows are merged */
	const struct stop *stop;
};

struct store_compactor {
	/* read freely: since open */
	uint64_t rows_merged, rows_made, bytes_merged, bytes_made, samples, rows_unreadable;
	/* private */
	struct store_compactor_options options;
	struct postgres pg;
};

void store_compactor_init(struct store_compactor *compactor,
			  const struct store_compactor_options *options);
void store_compactor_close(struct store_compactor *compactor);

/*
 * Merge rows of the bucket that waits longest; connects where need be. ret_found false: nothing is
 * old enough, or others are at it. A failure has changed nothing.
 */
bool store_compact(struct store_compactor *compactor, bool *ret_found, struct err *err) MUST_CHECK;
