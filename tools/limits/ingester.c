// SPDX-License-Identifier: Apache-2.0
/* Bounds of services/ingester/ingester_limits.h. */
#include "ingester/ingester_limits.h"
#include "limits/limit.h"

static const struct limit rows[] = {
	LIMIT(HOST_ID_MAX, BYTES, "the key of a numbered message",
	      "it is rejected, `decima_ingester_rejected_messages_total{reason=\"bad_headers\"}`"),
	LIMIT(HOSTS_MAX, COUNT, "hosts whose numbers are held, `decima_ingester_hosts`",
	      "all is flushed, they are forgotten and read again"),
	LIMIT(BUFFER_SHARE, COUNT,
	      "by which `--memory-limit` is divided, for what waits to be stored",
	      "it is stored at once; while that fails reading pauses, "
	      "`decima_ingester_pauses_total`"),
	LIMIT(KNOWN_SERIES_MAX, COUNT, "keys in each half of the cache of known series",
	      "the older half is forgotten and sent again, "
	      "`decima_ingester_series_cache_misses_total`"),
	LIMIT(LAG_PARTITIONS_MAX, COUNT, "partitions whose lag is told one by one",
	      "others are in `decima_ingester_lag_messages` alone"),
	LIMIT(AHEAD_MAX_MS, MS, "how far ahead of our clock a sample may be",
	      "it is skipped, `decima_ingester_skipped_total{reason=\"too_far_ahead\"}`"),
	LIMIT(POISON_MESSAGES_MAX, COUNT,
	      "messages found to be refused by PostgreSQL and not passed yet",
	      "the oldest is looked for again, `decima_ingester_flush_errors_total`"),
	LIMIT(COMPACT_WAIT_MS, MS, "the pause between two looks for rows to merge", PACE),
	LIMIT(MAINTENANCE_WAIT_MS, MS,
	      "the pause between two looks for partitions to make and to drop", PACE),
	LIMIT(RETRY_MS, MS, "the pause before a server that is away is tried again", PACE),
};

const struct limit_table ingester_limits = TABLE("services/ingester/ingester_limits.h", rows);
