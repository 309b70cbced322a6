// SPDX-License-Identifier: Apache-2.0
/*
 * ingester_limits - the ingester's own bounds. The bounds of a message are in profile/limits.h.
 */
#pragma once

enum {
	HOST_ID_MAX = 512,   /* bytes of a message's key; longer: the message is rejected */
	HOSTS_MAX = 1 << 16, /* hosts in the cache; more: all is flushed and the cache is cleared */
	/*
	 * Divides the memory limit; the quotient is for data that waits for a flush. To encode this
	 * data into rows needs up to three times as much again if all of it is of one service.
	 */
	BUFFER_SHARE = 6,
	AHEAD_MAX_MS = 600000,    /* a sample further ahead of the clock is skipped, counted */
	POISON_MESSAGES_MAX = 64, /* remembered until their partition is stored past them; more: the
				   * oldest is searched for again */
	LAG_PARTITIONS_MAX = 4096,   /* with a lag metric each; higher ones are only in the sum */
	KNOWN_SERIES_MAX = 1000000,  /* in each generation of seen_ids; evicted: sent again */
	COMPACT_WAIT_MS = 1000,      /* between two searches for rows to compact */
	MAINTENANCE_WAIT_MS = 60000, /* between two rounds of table partitions and retention */
	RETRY_MS = 1000,             /* between two attempts at an unavailable server */
};
