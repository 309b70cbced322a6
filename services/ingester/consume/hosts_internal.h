// SPDX-License-Identifier: Apache-2.0
/*
 * hosts - a cache of the hosts table: received sequence numbers, counters and last status.
 *
 * A host is loaded from PostgreSQL when its first batch is read and stays until the assignment
 * ends. The cache is ahead of the table by all batches that are not flushed. If those batches are
 * dropped, the hosts must be dropped too, with hosts_clear(), and loaded again. Consumer thread
 * only.
 */
#pragma once

#include "base/map.h"
#include "ingester/consume/batch_number_internal.h"
#include "store/write/writer.h"

struct host;

struct hosts {
	size_t count;
	/* private */
	struct arena arena;
	struct map by_id;
	struct host *all;
};

struct host {
	struct store_host store;
	/* private */
	struct host *next;
	char *texts; /* heap; store.status, node and version point into it */
};

void hosts_init(struct hosts *hosts);

/* Forget all hosts and free their memory. */
void hosts_clear(struct hosts *hosts);

/*
 * The host of that host id and epoch, loaded from the table when it is not in the cache. NULL: the
 * table cannot be read.
 */
struct host *hosts_find(struct hosts *hosts, const struct batch_number *number,
			struct store_writer *writer, struct err *err);

/*
 * Replace the host's last status, a `decima-status` header; the bytes are copied. False: it cannot
 * be decoded, and the previous status stays.
 */
bool host_update(struct host *host, str status, struct err *err) MUST_CHECK;

/*
 * Count a rejected batch of this host. The batch's status says how many samples it held; if it
 * cannot be decoded, only the batch is counted.
 */
void host_count_rejected(struct host *host, str status);

/* Bytes of memory used, without the status texts. */
size_t hosts_memory(const struct hosts *hosts);
