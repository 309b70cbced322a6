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
	AHEAD_MAX_MS =
		600000, /* a sample further ahead of the ingester's clock is skipped and counted */
	POISON_MESSAGES_MAX = 64, /* remembered until their partition is stored past them; more: the
				   * oldest is searched for again */
	LAG_PARTITIONS_MAX =
		4096, /* partitions with a lag metric; higher ones are only in the sum */
	KNOWN_SERIES_MAX = 1000000,  /* keys in each generation of the seen-ids cache; beyond:
					evicted keys are sent again */
	COMPACT_WAIT_MS = 1000,      /* between two searches for rows to compact */
	MAINTENANCE_WAIT_MS = 60000, /* between two rounds of table partitions and retention */
	RETRY_MS = 1000,             /* between two attempts at an unavailable server */
};
