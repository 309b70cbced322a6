// SPDX-License-Identifier: Apache-2.0
/* Bounds of services/ingester/ingester_limits.h. */
#include "ingester/ingester_limits.h"
#include "limits/limit.h"

static const struct limit rows[] = {
	LIMIT(HOST_ID_MAX, BYTES, "the key of a message with a sequence number",
	      "it is rejected, `decima_ingester_rejected_messages_total{reason=\"bad_headers\"}`"),
	LIMIT(HOSTS_MAX, COUNT, "hosts in the cache, `decima_ingester_hosts`",
	      "all data is flushed and the cache is cleared"),
	LIMIT(BUFFER_SHARE, COUNT,
	      "divides `--memory-limit`; the quotient is for data that waits for a flush",
	      "the data is flushed at once; while that fails, reading is paused, "
	      "`decima_ingester_pauses_total`"),
	LIMIT(KNOWN_SERIES_MAX, COUNT, "keys in each half of the cache of stored series",
	      "the older half is evicted; its series are written again, "
	      "`decima_ingester_series_cache_misses_total`"),
	LIMIT(LAG_PARTITIONS_MAX, COUNT, "partitions with a lag metric each",
	      "the others are only in the sum, `decima_ingester_lag_messages`"),
	LIMIT(AHEAD_MAX_MS, MS, "how far ahead of our clock a sample may be",
	      "it is skipped, `decima_ingester_skipped_total{reason=\"too_far_ahead\"}`"),
	LIMIT(POISON_MESSAGES_MAX, COUNT,
	      "remembered messages that PostgreSQL rejects, until their partition is stored past "
	      "them",
	      "the oldest is searched for again, `decima_ingester_flush_errors_total`"),
	LIMIT(COMPACT_WAIT_MS, MS, "the pause between two searches for rows to compact", PACE),
	LIMIT(MAINTENANCE_WAIT_MS, MS,
	      "the pause between two rounds of creating and dropping table partitions", PACE),
	LIMIT(RETRY_MS, MS, "the pause before an unavailable server is tried again", PACE),
};

const struct limit_table ingester_limits = TABLE("services/ingester/ingester_limits.h", rows);
