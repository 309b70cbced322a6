// SPDX-License-Identifier: Apache-2.0
/*
 * spool - a durable queue of numbered batches on disk, between the sampling thread and Kafka.
 *
 *     STATE/lock                            flock: one agent per state directory
 *     STATE/host-id                         random; only where there is no machine id
 *     STATE/spool/EPOCH-SEQ.batch           one batch; digits zero-padded, so names sort by age
 *     STATE/spool/EPOCH-SEQ.bad             set aside: rejected by Kafka, or corrupt
 *     STATE/spool/meta                      epoch, last number, last status, drop counters
 *
 * A batch can be sent only after it is on disk, fsynced under its final name. Its number is in meta
 * before the batch can be removed. So numbers go 1, 2, 3, ... without gaps or repeats through any
 * kill -9. A new epoch begins only with a new spool, another host id, a lost meta file, or another
 * place.
 *
 * The place is the machine's boot and the inode of STATE/spool. Both differ in a copy of the spool,
 * as on a cloned machine: if two agents went on with the same epoch, they would use each number
 * twice, and the ingester would drop one of the two batches as a duplicate.
 *
 * A full spool drops its oldest batches that are not in flight. A drop is counted in meta, with the
 * range of numbers, before the file is removed: a crash in between neither loses nor doubles the
 * count.
 *
 * Threads: one thread puts batches; one thread (publish) takes batches with spool_next() and
 * removes them; both may read the counters. The lock guards the index only and is not held across
 * I/O. Only the putting thread writes meta.
 */
#pragma once

#include "agent/spool/spool_file_internal.h"
#include "base/err.h"

#include <pthread.h>

/* The texts are borrowed during spool_open() only. */
struct spool_options {
	const char *state_directory; /* created if missing */
	const char *node;            /* host.name; host id = node, '/', machine id */
	const char *machine_id_path; /* NULL: /etc/machine-id */
	const char *boot_id_path;    /* NULL: the kernel's */
	uint64_t max_bytes;          /* of the batches on disk, --spool-max-bytes */
};

/* Why a batch is dropped; the names are reasons of AgentStatus.lost. */
#define SPOOL_REASONS(ROW)                                                      \
	ROW(SPOOL_FULL, "spool_full")       /* the oldest batch is dropped */   \
	ROW(SPOOL_CORRUPT, "spool_corrupt") /* checksum wrong, or unreadable */ \
	ROW(SPOOL_REFUSED, "spool_refused") /* Kafka will never accept it */

enum spool_reason { SPOOL_REASONS(NAMED_CONSTANT) SPOOL_REASON_COUNT };
extern const char *const spool_reason_names[SPOOL_REASON_COUNT];

/* Drops since the epoch began. Stored in meta, so they survive restarts. */
struct spool_lost {
	uint64_t batches[SPOOL_REASON_COUNT];
	uint64_t samples[SPOOL_REASON_COUNT]; /* 0 for a corrupt batch without a readable header */
};

struct spool_level {
	uint64_t batches, bytes;
	uint64_t oldest_unix_ns; /* when the oldest batch was put; 0: the spool is empty */
	uint64_t put_rate;       /* bytes per second that are put, average of about a minute */
	uint64_t unreadable;     /* batches whose file could not be read; the read is retried */
};

struct spool_entry;

struct spool {
	uint64_t epoch, last_seq;
	str host_id; /* the key of every message */
	str place;   /* see above */
	/*
	 * The AgentStatus of the last batch that was put, possibly by the previous agent process;
	 * empty in a new epoch. The agent's counters continue from it, except lost[spool_*], which
	 * spool_lost_get() returns.
	 */
	str last_status;
	/* private */
	struct arena arena;
	uint64_t max_bytes;
	int state_fd, spool_fd, lock_fd;
	bool is_open;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct spool_entry *entries; /* by age; a heap array */
	size_t entry_count, entry_cap;
	uint64_t bytes, put_ns;
	/* Of spool_next(): files read, failures in a row, no read before, last failure in the log
	 */
	uint64_t reads, failed_reads, read_ns, logged_ns;
	double put_rate;
	struct spool_lost lost;
	uint64_t sent; /* samples of this epoch that were delivered since spool_open() */
	struct spool_range dropped; /* the most recent drop */
	size_t bad_files;
	char status_room[SPOOL_STATUS_MAX];
};

/*
 * Opens the spool and recovers it after a crash. The struct must not move until spool_close().
 * ERR_INVALID: another agent has locked the state directory, or the host id is too long. ERR_IO,
 * ERR_NOT_FOUND: a file or directory cannot be used. On failure everything is closed again.
 */
bool spool_open(struct spool *spool, const struct spool_options *options,
		struct err *err) MUST_CHECK;

/* Closes the files and frees the memory; batches stay on disk. No other thread may use the spool
 * any more. Accepts a zeroed struct. */
void spool_close(struct spool *spool);

/*
 * Numbers a batch and makes it durable. `value` and `status` are copied; `status` is the
 * AgentStatus as of this batch. Putting thread only. May drop older batches. False: the batch is
 * not in the spool and has no number; the caller retries or counts its samples as lost. ERR_LIMIT:
 * the batch is too large for the spool. ERR_IO: a file cannot be written.
 */
bool spool_put(struct spool *spool, str value, str status, uint64_t samples,
	       struct err *err) MUST_CHECK;

/* The drops so far. Both threads. */
struct spool_lost spool_lost_get(struct spool *spool);

/* Samples of this epoch: in the spool now, and delivered since spool_open(). */
struct spool_samples {
	uint64_t held, sent;
};

/* Both threads. */
struct spool_samples spool_samples_get(struct spool *spool);

/* The present fill level. Both threads. */
struct spool_level spool_level_get(struct spool *spool);

/*
 * The lowest number of this epoch that the spool still holds, or the next number if it holds none.
 * All lower numbers are delivered or dropped. Putting thread only.
 */
uint64_t spool_oldest_seq(struct spool *spool);

/*
 * For the publishing thread: reads the oldest batch that is not in flight into the arena, and marks
 * it as in flight. The caller must report its result with spool_delivered(), spool_returned() or
 * spool_rejected(). A corrupt batch is skipped and dropped. A batch that cannot be read is skipped
 * and read again after a pause; after SPOOL_READS_MAX failures it is dropped as corrupt if other
 * batches could be read meanwhile. False: there is no batch that may be read now, or the batches in
 * flight fill half of the spool already.
 */
bool spool_next(struct spool *spool, struct arena *arena, struct spool_batch *ret_batch) MUST_CHECK;

/* The batch in flight was acknowledged: removes it. An unknown batch is ignored. */
void spool_delivered(struct spool *spool, uint64_t epoch, uint64_t seq);

/* The batch in flight was not delivered: spool_next() returns it again. */
void spool_returned(struct spool *spool, uint64_t epoch, uint64_t seq);

/* Kafka will never accept the batch in flight: the next spool_put() drops it. */
void spool_rejected(struct spool *spool, uint64_t epoch, uint64_t seq);

/* Waits until spool_next() has a batch, at most timeout_ms. Publishing thread only. */
void spool_wait(struct spool *spool, uint64_t timeout_ms);
