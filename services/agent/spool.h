/*
 * spool - the agent's only way out: batches on disk, numbered, until Kafka has them.
 *
 *     STATE/lock                            flock: one agent per state directory
 *     STATE/host-id                         random; only where there is no machine id
 *     STATE/spool/EPOCH-SEQ.batch           one batch; digits zero-padded, so names sort by age
 *     STATE/spool/EPOCH-SEQ.bad             set aside: its bytes are not what was written
 *     STATE/spool/meta                      epoch, last number, last status, what was lost here
 *
 * A batch is on disk, fsynced under its final name, before anybody may send it, and the number in
 * meta moves before the batch can be removed: so numbers go 1, 2, 3, ... without gaps or repeats
 * through any kill -9. A new epoch begins only with a new spool or another host id. A spool that is
 * full gives up its oldest batches that are not on their way, and counts them; meta names them
 * before they are unlinked, so that a crash in between neither loses nor doubles the count.
 *
 * Threads: one puts, one (publish) takes and removes; both may ask for the numbers. The lock guards
 * the index only and is not held across I/O.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "spool_file.h"

#include <pthread.h>

enum { SPOOL_BAD_FILES_MAX = 8 }; /* set aside; more are removed */

struct spool_options {
	const char *state_directory; /* made if it is not there */
	const char *node;            /* host.name; host id = node, '/', machine id */
	const char *machine_id_path; /* NULL: /etc/machine-id */
	uint64_t max_bytes;          /* of the batches on disk, --spool-max-bytes */
};

/* What this spool had to give up since it was created; survives restarts (it is in meta). */
struct spool_lost {
	uint64_t full_batches, full_samples;       /* `spool_full`: oldest out */
	uint64_t corrupt_batches, corrupt_samples; /* `spool_corrupt`: set aside; samples if told */
	uint64_t refused_batches, refused_samples; /* `spool_refused`: Kafka will never take it */
};

/* How full it is. */
struct spool_level {
	uint64_t batches, bytes;
	uint64_t oldest_unix_ns; /* when its oldest batch was put; 0: it is empty */
};

struct spool_entry {
	uint64_t epoch, seq, bytes, samples, time_unix_ns;
	bool on_its_way, gone; /* handed out by spool_next(); removed while it was */
};

struct spool {
	uint64_t epoch, last_seq;
	str host_id; /* the key of every message */
	/*
	 * The AgentStatus of the last batch that was put, also by a predecessor; empty in a new
	 * spool. Counters go on from there; lost[spool_*] come from spool_lost_get() instead.
	 */
	str last_status;
	/* private */
	struct arena arena;
	uint64_t max_bytes;
	int state_fd, spool_fd, lock_fd;
	bool is_open, sync_ready;
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct spool_entry *entries; /* by age; a heap array */
	size_t entry_count, entry_cap;
	struct spool_lost lost;
	struct spool_evicted evicted;
	unsigned char *status_room;
};

/* A second agent on the same state directory fails here, with a sentence. */
bool spool_open(struct spool *spool, const struct spool_options *options,
		struct err *err) MUST_CHECK;
void spool_close(struct spool *spool);

/*
 * Number a batch and make it durable. `status` is an AgentStatus as of this batch. False: it is not
 * in the spool and has no number; try again or count its samples lost.
 */
bool spool_put(struct spool *spool, str value, str status, uint64_t samples,
	       struct err *err) MUST_CHECK;

struct spool_lost spool_lost_get(struct spool *spool);
struct spool_level spool_level_get(struct spool *spool);

/*
 * For the publisher. The oldest batch that is not on its way, read into the arena; it is on its way
 * from then on. False: there is none (files that cannot be read are set aside on the way).
 */
bool spool_next(struct spool *spool, struct arena *arena, struct spool_batch *ret_batch) MUST_CHECK;

/* It is in Kafka: remove it. */
void spool_delivered(struct spool *spool, uint64_t epoch, uint64_t seq);
/* It is not on its way any more: spool_next() will give it again. */
void spool_returned(struct spool *spool, uint64_t epoch, uint64_t seq);
/* Kafka will never take it: set it aside and count it. */
void spool_refused(struct spool *spool, uint64_t epoch, uint64_t seq);

/* Wait until a batch is put, at most timeout_ms. */
void spool_wait(struct spool *spool, uint64_t timeout_ms);
