// SPDX-License-Identifier: Apache-2.0
/*
 * spool - the agent's only way out: batches on disk, numbered, until Kafka has them.
 *
 *     STATE/lock                            flock: one agent per state directory
 *     STATE/host-id                         random; only where there is no machine id
 *     STATE/spool/EPOCH-SEQ.batch           one batch; digits zero-padded, so names sort by age
 *     STATE/spool/EPOCH-SEQ.bad             set aside: Kafka refused it or its bytes have changed
 *     STATE/spool/meta                      epoch, last number, last status, what was given up
 *
 * A batch is on disk, fsynced under its final name, before anybody may send it, and its number is
 * in meta before it can be removed: so numbers go 1, 2, 3, ... without gaps or repeats through any
 * kill -9. A new epoch begins only with a new spool, another host id, or a meta that is lost.
 * A spool that is full gives up its oldest batches that are not on their way. What is given up is
 * named and counted in meta before its file goes, so a crash in between neither loses nor doubles
 * the count.
 *
 * Threads: one puts, one (publish) takes and removes; both may ask for the numbers. The lock guards
 * the index only and is not held across I/O; meta is written by the thread that puts.
 */
#pragma once

#include "base/err.h"
#include "spool_file.h"

#include <pthread.h>

struct spool_options {
	const char *state_directory; /* made if it is not there */
	const char *node;            /* host.name; host id = node, '/', machine id */
	const char *machine_id_path; /* NULL: /etc/machine-id */
	uint64_t max_bytes;          /* of the batches on disk, --spool-max-bytes */
};

/* Why a batch is given up; the names are reasons of AgentStatus.lost. */
enum spool_reason {
	SPOOL_FULL,    /* spool_full: oldest out */
	SPOOL_CORRUPT, /* spool_corrupt: its bytes are not what was written */
	SPOOL_REFUSED, /* spool_refused: Kafka will never take it */
	SPOOL_REASON_COUNT,
};
extern const char *const spool_reason_names[SPOOL_REASON_COUNT];

/* What this spool had to give up since its epoch began; survives restarts (it is in meta). */
struct spool_lost {
	uint64_t batches[SPOOL_REASON_COUNT];
	uint64_t samples[SPOOL_REASON_COUNT]; /* of a corrupt batch: if its header can be read */
};

/* How full it is. */
struct spool_level {
	uint64_t batches, bytes;
	uint64_t oldest_unix_ns; /* when its oldest batch was put; 0: it is empty */
	uint64_t put_rate;       /* bytes per second that are put, over the last minute or so */
};

struct spool_entry;

struct spool {
	uint64_t epoch, last_seq;
	str host_id; /* the key of every message */
	/*
	 * The AgentStatus of the last batch that was put, also by a predecessor; empty in a new
	 * epoch. Counters go on from there; lost[spool_*] are spool_lost_get()'s instead.
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
	double put_rate;
	struct spool_lost lost;
	struct spool_range dropped; /* the last ones */
	size_t bad_files;
	char status_room[SPOOL_STATUS_MAX];
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
 * The lowest number of this epoch that it holds, or the next to be given: what is below it has left
 * for ever. For the thread that puts.
 */
uint64_t spool_oldest_seq(struct spool *spool);

/*
 * For the publisher. The oldest batch that is not on its way, read into the arena; it is on its way
 * from then on. False: there is none, or half of the spool's room is on its way already.
 */
bool spool_next(struct spool *spool, struct arena *arena, struct spool_batch *ret_batch) MUST_CHECK;

/* What became of a batch that was on its way. */
void spool_delivered(struct spool *spool, uint64_t epoch, uint64_t seq); /* remove it */
void spool_returned(struct spool *spool, uint64_t epoch, uint64_t seq);  /* to be sent again */
void spool_rejected(struct spool *spool, uint64_t epoch, uint64_t seq);  /* never to be sent */

/* Wait until there is one for spool_next(), at most timeout_ms. */
void spool_wait(struct spool *spool, uint64_t timeout_ms);
