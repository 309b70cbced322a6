// SPDX-License-Identifier: Apache-2.0
/*
 * ingester_limits - the ingester's own bounds. What a message may hold is in profile/limits.h.
 */
#pragma once

enum {
	HOST_ID_MAX = 512,   /* bytes of a message's key; longer: the message is rejected */
	HOSTS_MAX = 1 << 16, /* hosts whose numbers are held; beyond: flushed and read again */
	BUFFER_SHARE =
		6, /* of the memory limit, for what waits to be flushed: making rows of it
		    * takes      up to three times as much again, where all is one service's */
	AHEAD_MAX_MS = 600000,       /* a sample further ahead of our clock is skipped, counted */
	POISON_MESSAGES_MAX = 64,    /* messages found to be refused, held until they are passed;
				      * beyond: the oldest is looked for again */
	LAG_PARTITIONS_MAX = 4096,   /* whose lag is told one by one; beyond: in the sum alone */
	KNOWN_SERIES_MAX = 1000000,  /* keys in each half of the cache; beyond: sent again */
	COMPACT_WAIT_MS = 1000,      /* between two looks for rows to merge */
	MAINTENANCE_WAIT_MS = 60000, /* between two rounds of partitions and retention */
	RETRY_MS = 1000,             /* between two tries at a server that is away */
};
