// SPDX-License-Identifier: Apache-2.0
/*
 * hosts - the hosts whose batches are being counted, each with its numbers and its last word.
 *
 * Read from PostgreSQL when a host is first met and kept as long as our partitions are. The numbers
 * here run ahead of the table by what is not flushed: where that is dropped, the host must be
 * forgotten too and read again. Consumer thread only.
 */
#pragma once

#include "base/map.h"
#include "batch_number.h"
#include "store/writer.h"

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
	char *texts; /* what store.status, node and version point into */
};

void hosts_init(struct hosts *hosts);
void hosts_clear(struct hosts *hosts); /* forget all of them */

/* The host of that number, out of the table where it is new to us. NULL: the table cannot be read.
 */
struct host *hosts_find(struct hosts *hosts, const struct batch_number *number,
			struct store_writer *writer, struct err *err);

/* Remember its last word. False: it is not a status; what was remembered stays. */
bool host_update(struct host *host, str status, struct err *err) MUST_CHECK;

/* Count a batch of its that was rejected: as many samples as the status of that batch says. */
void host_count_rejected(struct host *host, str status);

/* Memory held. */
size_t hosts_memory(const struct hosts *hosts);
