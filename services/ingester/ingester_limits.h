// SPDX-License-Identifier: Apache-2.0
/*
 * ingester_limits - the ingester's own bounds. The bounds of a message are in profile/limits.h.
 */
#pragma once

#include "base/limit.h"

#define INGESTER_LIMITS(LIMIT)                                                                     \
	LIMIT(HOST_ID_MAX, 512, BYTES, "the key of a message with a sequence number",              \
	      "it is rejected, `decima_ingester_rejected_messages_total{reason=\"bad_headers\"}`") \
	LIMIT(HOSTS_MAX, 1 << 16, COUNT,                                                           \
	      "hosts in the cache, `decima_ingester_hosts`; or 3/4 of the memory for data",        \
	      "all data is flushed and the cache is cleared")                                      \
	/* Divides the memory limit; the quotient is for data that waits for a flush. To encode    \
	 * this data into rows needs up to three times as much again if all of it is of one        \
	 * service. */                                                                             \
	LIMIT(BUFFER_SHARE, 8, COUNT,                                                              \
	      "divides `--memory-limit`; the quotient is for data that waits for a flush",         \
	      "the data is flushed at once; while that fails, reading is paused, "                 \
	      "`decima_ingester_pauses_total`")                                                    \
	LIMIT(KNOWN_SERIES_MAX, 1000000, COUNT, "keys in each half of the cache of stored series", \
	      "the older half is evicted; its series are written again, "                          \
	      "`decima_ingester_series_cache_misses_total`")                                       \
	LIMIT(LAG_PARTITIONS_MAX, 4096, COUNT, "partitions with a lag metric each",                \
	      "the others are only in the sum, `decima_ingester_lag_messages`")                    \
	LIMIT(AHEAD_MAX_MS, 600000, MS, "how far ahead of our clock a sample may be",              \
	      "it is skipped, `decima_ingester_skipped_total{reason=\"too_far_ahead\"}`")          \
	LIMIT(POISON_MESSAGES_MAX, 64, COUNT,                                                      \
	      "remembered messages that PostgreSQL rejects, until their partition is stored past " \
	      "them",                                                                              \
	      "the oldest is searched for again, `decima_ingester_flush_errors_total`")            \
	LIMIT(COMPACT_WAIT_MS, 1000, MS, "the pause between two searches for rows to compact",     \
	      PACE)                                                                                \
	LIMIT(MAINTENANCE_WAIT_MS, 60000, MS,                                                      \
	      "the pause between two rounds of creating and dropping table partitions", PACE)      \
	LIMIT(BALANCE_READ_MS, 30000, MS, "reading the balances of all hosts",                     \
	      "`decima_ingester_balance_errors_total`; read again in the next round")              \
	LIMIT(BALANCE_LOG_MS, 3600000, MS,                                                         \
	      "the pause between two log lines about a host whose balance stays open", PACE)       \
	LIMIT(STALL_MS, 60000, MS,                                                                 \
	      "how long nothing is stored, beyond two `--flush-interval`, while Kafka has "        \
	      "messages",                                                                          \
	      "`/ready` is 503 until messages are stored")                                         \
	LIMIT(TOPIC_CHECK_MS, 10000, MS,                                                           \
	      "how long no partition is assigned before the topic is created if it is missing",    \
	      PACE)                                                                                \
	LIMIT(STOP_MS, 10000, MS, "the orderly end after SIGTERM",                                 \
	      "the process ends at once, with exit status 3")                                      \
	LIMIT(RETRY_MS, 1000, MS, "the pause before an unavailable server is tried again", PACE)

INGESTER_LIMITS(LIMIT_CONSTANT)
