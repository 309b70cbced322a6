// SPDX-License-Identifier: Apache-2.0
/*
 * writer - stores samples, received batch numbers and Kafka offsets in one transaction.
 *
 * A flush:
 *
 *     1. creates the missing partitions of the days and hours that it needs;
 *     2. upserts new series and label pairs, sorted by key, in a short transaction of its own;
 *        these rows count no samples, so they are harmless if step 3 never happens;
 *     3. in one transaction: copies the rows of chunk_raw, by bucket; writes the rows of the hosts;
 *        and last, as the fence, locks the offset rows of the Kafka partitions in order and
 *        compares them.
 *
 * A part is the data of one Kafka partition. If an offset row does not have the expected value,
 * another ingester owns the Kafka partition: the part is marked `lost`, the transaction is rolled
 * back, and the flush is repeated without the part. If a host's row does not have the revision that
 * was read, every part that references the host is marked `lost`. Samples of a lost part must not
 * be stored: the caller drops its buffer, reads the offset again and seeks.
 *
 * After a temporary failure (the server is unreachable) nothing has changed: flush again. Failures
 * of PostgreSQL are ERR_IO unless a function says otherwise. One thread.
 */
#pragma once

#include "base/map.h"
#include "client/postgres.h"
#include "profile/sample_set.h"
#include "store/write/batch_hashes.h"
#include "store/write/received_set.h"
#include "store/write/seen_ids_internal.h"
#include "store/write/transit.h"

/* Texts and token are borrowed and must outlive the writer. */
struct store_writer_options {
	const char *postgres;        /* libpq conninfo or URI */
	const char *topic;           /* key of the offset rows, with the partition */
	uint64_t seen_ids_max;       /* capacity of the seen-ids cache of series and pairs */
	uint64_t session_ms;         /* idle_in_transaction_session_timeout; 0: 10 s */
	bool synchronous_commit;     /* default off: Kafka can replay after a crash */
	const struct cancel *cancel; /* ends every wait */
};

struct store_writer {
	/* read freely: since open. cache_*: a series counts once per flush that contains it */
	uint64_t series_new, cache_hits, cache_misses; /* of the seen-ids cache */
	uint64_t fences_lost, partitions_made;
	uint64_t writers_terminated; /* connections of stuck writers that were terminated */
	uint64_t connections;        /* opened so far; see store_writer_connect() */
	/* private */
	struct postgres pg;
	struct store_writer_options options;
	struct seen_ids seen_ids; /* series and names of sample labels, by day */
	struct arena names;       /* of `partitions` */
	struct map partitions;    /* names of partitions known to exist */
};

/* The consumer offset of a Kafka partition. */
struct store_offset {
	int32_t partition;
	int64_t next;              /* next offset to consume; -1: nothing was stored yet */
	str last_key;              /* of the message at next - 1 */
	int64_t last_timestamp_ms; /* of the message at next - 1; -1: none */
};

/*
 * The state of one spool, identified by (host, epoch): batches received, and the newest status of
 * the agent. All parts of a flush that reference the spool point to the same struct. Texts other
 * than `status` are UTF-8 without NUL bytes.
 */
struct store_host {
	str host;
	uint64_t epoch;
	uint64_t revision; /* of the row that was read; 0: no row. The fence of the host */
	struct received_set seen;
	struct batch_hashes hashes;        /* of the newest batches in `seen` */
	str status;                        /* the newest AgentStatus, as received; may be empty */
	str node, version;                 /* from the status */
	uint64_t sampled, lost, truncated; /* from the status: cumulative samples */
	uint64_t last_seen_ms;             /* Unix ms of the newest batch */
	/* cumulative; in samples unless the name says batches */
	uint64_t stored, duplicate_batches, rejected_batches, skipped;
	uint64_t too_far_ahead;    /* included in skipped; the others were too old */
	uint64_t rejected_samples; /* of rejected batches, according to their statuses */
	/* Other batches under numbers that were received, and their samples, as above. */
	uint64_t conflict_batches, conflict_samples;
	/* `missing` is stored. The caller of store_writer_host() sets `spooled` from the status. */
	struct transit transit;
	bool has_transit; /* false: an older ingester wrote the row, `missing` is unknown */
};

/* The data of one Kafka partition in a flush. */
struct store_flush_part {
	struct store_offset from;         /* expected value in the table: the fence */
	struct store_offset to;           /* new value */
	const struct sample_set *samples; /* NULL: the messages contained no samples */
	struct store_host *const *hosts;  /* spools whose batches are in these messages */
	size_t host_count;
	bool lost; /* set by the flush: not stored, the caller must drop it */
};

/* Totals of a flush: rows of chunk_raw, bytes of their payloads, samples, new series. */
struct store_flush {
	uint64_t rows, bytes, samples, series_new;
};

/*
 * Connects and migrates the schema, under an advisory lock, so several processes may start at once.
 * Overwrites *writer, which must not move afterwards. ERR_IO: PostgreSQL failed; the writer is
 * closed, and may be opened again.
 */
bool store_writer_open(struct store_writer *writer, const struct store_writer_options *options,
		       struct err *err) MUST_CHECK;

/* Disconnects and frees. Accepts {0}, and a writer that is closed already. */
void store_writer_close(struct store_writer *writer);

/*
 * Reconnects if the connection is lost, and then applies the migrations that the database lacks: it
 * may have been replaced by an empty one or by an old backup. Commits of an earlier connection may
 * be lost after a crash of the server or a failover. If `connections` has changed since offsets and
 * hosts were read, the caller must read offsets and hosts again and consume from these offsets.
 * ERR_IO: no connection, or the migrations failed and are rolled back; try again later.
 */
bool store_writer_connect(struct store_writer *writer, struct err *err) MUST_CHECK;

/*
 * Sets next, last_key (in the arena) and last_timestamp_ms of each offset; the caller has set
 * `partition`. Connects if necessary. ERR_IO: the offsets are unchanged.
 */
bool store_writer_offsets(struct store_writer *writer, struct store_offset *offsets, size_t count,
			  struct arena *arena, struct err *err) MUST_CHECK;

/*
 * Reads a host's row; the caller has set `host`, which stays borrowed, and `epoch`. The other
 * members are overwritten, with texts and ranges in the arena; they are zero if there is no row.
 * Connects if necessary. ERR_IO: PostgreSQL failed; *host is unchanged. ERR_INVALID: the row is
 * malformed; the other members are undefined.
 */
bool store_writer_host(struct store_writer *writer, struct store_host *host, struct arena *arena,
		       struct err *err) MUST_CHECK;

/*
 * Stores all parts except those that the function marks `lost`; sets `lost` of each part. Parts are
 * borrowed during the call. Connects if necessary. On success the revisions of the stored hosts are
 * incremented; *ret_flush is zero if every part is lost. False: nothing was stored, and `lost` has
 * no meaning. ERR_IO: PostgreSQL failed; try again later with the same parts. ERR_INVALID: the
 * server rejected the data, and would reject the same data again.
 */
bool store_writer_flush(struct store_writer *writer, struct store_flush_part *parts, size_t count,
			struct store_flush *ret_flush, struct err *err) MUST_CHECK;
