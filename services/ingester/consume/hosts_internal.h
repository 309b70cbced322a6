// SPDX-License-Identifier: Apache-2.0
/*
 * hosts - a cache of the table agent_status: received sequence numbers, counters and last status.
 *
 * An entry is one spool, identified by host id and epoch. A host is loaded from PostgreSQL when its
 * first batch is read and stays until the assignment ends. The cache is ahead of the table by all
 * batches that are not flushed. If those batches are dropped, the hosts must be dropped too, with
 * hosts_clear(), and loaded again. Consumer thread only.
 */
#pragma once

#include "base/map.h"
#include "ingester/consume/batch_number_internal.h"
#include "store/write/writer.h"

struct host;

struct hosts {
	size_t count; /* hosts in the cache */
	/* private */
	struct arena arena; /* also memory of received sets: store.seen grows in it */
	struct map by_id;
	struct host *all;
};

struct host {
	struct store_host store;
	/* private */
	struct host *next;
	char *texts; /* heap; store.status, node and version point into it */
};

/* Initialises an empty cache, which must not move afterwards. */
void hosts_init(struct hosts *hosts);

/* Frees all hosts and their memory; pointers to hosts are invalid afterwards. The cache is empty
 * and can be used again. */
void hosts_clear(struct hosts *hosts);

/*
 * Returns the host with that host id and epoch, loaded from the table if it is not in the cache
 * (new and zero if the table has no such row). Valid until hosts_clear(); the host id is copied.
 * NULL: err is set and the cache is unchanged; ERR_IO: the table cannot be read, ERR_INVALID: the
 * host's row is malformed.
 */
struct host *hosts_find(struct hosts *hosts, const struct batch_number *number,
			struct store_writer *writer, struct err *err);

/*
 * Replaces the host's last status by `status`, the value of a `decima-status` header; the bytes are
 * copied. `skipped`: numbers that are missing directly below the status's batch. ERR_INVALID:
 * `status` cannot be decoded; the host is unchanged.
 */
bool host_update(struct host *host, str status, uint64_t skipped, struct err *err) MUST_CHECK;

/*
 * Counts a rejected batch of this host, and the samples of the batch, whose number is in the
 * batch's status. If the status cannot be decoded, only the batch is counted. Cannot fail.
 */
void host_count_rejected(struct host *host, str status);

/*
 * Counts a batch whose number was received with other contents, and its samples as above: it cannot
 * be known which of the two batches is the host's own. No batch has more samples than bytes
 * (`value_len`): a forged status cannot make the sum useless. Cannot fail.
 */
void host_count_conflict(struct host *host, str status, size_t value_len);

/* A batch that was missing arrived: its samples, as above, are missing no longer. Cannot fail. */
void host_count_late(struct host *host, str status);

/* Bytes of memory of the cache, without status texts. */
size_t hosts_memory(const struct hosts *hosts);
