// SPDX-License-Identifier: Apache-2.0
/*
 * writer - puts samples, seen numbers and offsets into PostgreSQL in one transaction.
 *
 * A flush:  1. partitions of the days and the hour that it needs are made, where they are missing;
 *           2. new series and label pairs, sorted, in a short transaction of their own (they say
 *              nothing of samples, so it does no harm when the next step never comes);
 *           3. one transaction: chunk_raw rows by COPY, one per bucket; the hosts' rows; and last
 *              the fence: the partitions' offset rows are locked in order and compared.
 *
 * Where an offset row does not hold the expected value, somebody else has taken the partition: it
 * is marked `lost`, all is rolled back, and the flush is tried again without it. A host's row that
 * has another revision than the one read marks every partition that spoke of the host. Nothing of a
 * lost partition may be stored: its owner drops what it holds, reads the offset again and seeks.
 *
 * A failure that may pass (the server is away) leaves everything as it was: flush again. One
 * thread.
 */
#pragma once

#include "base/map.h"
#include "client/postgres.h"
#include "profile/sample_set.h"
#include "store/received_set.h"
#include "store/seen_ids.h"

struct store_writer_options {
	const char *postgres;      /* libpq conninfo or URI */
	const char *topic;         /* names the offsets' rows */
	uint64_t known_series_max; /* entries of the cache of known series and pairs */
	uint64_t session_ms;       /* for so long we may stand still in a transaction; 0: 10 s */
	bool synchronous_commit;   /* off by default: Kafka is the truth */
	const struct stop *stop;   /* ends every wait */
};

struct store_writer {
	/* read freely: since open. Series are counted once per flush that speaks of them */
	uint64_t series_new, cache_hits, cache_misses; /* the cache: of series and sample labels */
	uint64_t fences_lost, partitions_made;
	uint64_t writers_ended; /* others, that stood still and held something */
	uint64_t connections;   /* so far; see store_writer_connect() */
	/* private */
	struct postgres pg;
	struct store_writer_options options;
	struct seen_ids seen_ids; /* series and sample label names, by day */
	struct arena names;       /* of the next */
	struct map partitions;    /* names of those that are there */
};

/* Where a partition stands. */
struct store_offset {
	int32_t partition;
	int64_t next;              /* -1: nothing of it was ever stored */
	str last_key;              /* of the message at next - 1 */
	int64_t last_timestamp_ms; /* of the same; -1: it had none */
};

/*
 * One (host, epoch): what has been seen of it, and its last word. All parts of a flush that speak
 * of it point to the same one. Texts but for the status are UTF-8 without NULs.
 */
struct store_host {
	str host;
	uint64_t epoch;
	uint64_t revision; /* of the row as it was read; 0: there was none. The host's fence */
	struct seen seen;
	str status;                      /* the newest AgentStatus, as it came; may be empty */
	str node, version;               /* out of it */
	uint64_t taken, lost, truncated; /* out of it: cumulative samples */
	uint64_t last_seen_ms;           /* Unix ms of the newest batch */
	/* cumulative, in samples but for the batches */
	uint64_t stored, duplicate_batches, rejected_batches, skipped;
	uint64_t too_far_ahead;    /* of the skipped; the others were too old */
	uint64_t rejected_samples; /* of rejected batches, as their statuses say */
};

/* What one partition brings to a flush. */
struct store_part {
	struct store_offset from;         /* as it must be in the table: the fence */
	struct store_offset to;           /* as it will be */
	const struct sample_set *samples; /* NULL: the messages held none */
	struct store_host *const *hosts;  /* whose numbers were moved by these messages */
	size_t host_count;
	bool lost; /* set by the flush: not stored, must be dropped */
};

struct store_flush {
	uint64_t rows, bytes, samples, series_new;
};

/* Connect and bring the schema up to date (under an advisory lock; several may start at once). */
bool store_writer_open(struct store_writer *writer, const struct store_writer_options *options,
		       struct err *err) MUST_CHECK;
void store_writer_close(struct store_writer *writer);

/*
 * Connect again if the connection is lost. What was committed on an earlier connection may be gone,
 * after a crash or on the standby that took over: where `connections` has moved on since offsets
 * and hosts were read, read them again, and the messages from there.
 */
bool store_writer_connect(struct store_writer *writer, struct err *err) MUST_CHECK;

/* Fill next, last_key and last_timestamp_ms of each; `partition` is given. */
bool store_writer_offsets(struct store_writer *writer, struct store_offset *offsets, size_t count,
			  struct arena *arena, struct err *err) MUST_CHECK;

/* Read a host's row; a zero row with revision 0 where there is none. host and epoch are given. */
bool store_writer_host(struct store_writer *writer, struct store_host *host, struct arena *arena,
		       struct err *err) MUST_CHECK;

/*
 * Store all parts, or all but those it marks `lost`. On success the stored hosts' revisions are
 * moved on. False: nothing was stored, try again later; but with ERR_INVALID the server refuses the
 * data themselves, and would again.
 */
bool store_writer_flush(struct store_writer *writer, struct store_part *parts, size_t count,
			struct store_flush *ret_flush, struct err *err) MUST_CHECK;
