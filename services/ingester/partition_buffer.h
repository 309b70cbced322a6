// SPDX-License-Identifier: Apache-2.0
/*
 * part - what was read of one Kafka partition and is not stored yet.
 *
 *     table:  from.next ─┐                        ┌─ to.next
 *     topic:  ... 41 [42]│ 43 44 45 ... messages  │ 51 ...
 *              remembered └── in `samples` ───────┘
 *
 * `from` is the offset row as PostgreSQL has it, the fence of the next flush; `to` what the row
 * will be. The message at from.next - 1 is read once more at the start: another key or timestamp
 * than the remembered one means that the topic is not the one we knew. Consumer thread only.
 */
#pragma once

#include "base/vec.h"
#include "client/kafka_consumer.h"
#include "hosts.h"
#include "ingester_limits.h"
#include "store/writer.h"

struct partition_buffer {
	struct store_offset from, to;
	bool must_check;    /* the next record has to be the remembered one */
	bool is_dirty;      /* `to` or the samples are ahead of the table */
	uint64_t messages;  /* dealt with and not stored */
	int64_t oldest_ms;  /* timestamp of the oldest of them; INT64_MAX: none had one */
	int64_t sampled_ms; /* the newest sample of the message whose is oldest; INT64_MAX: none */
	int64_t newest_ms;  /* of its samples that were stored, since it is ours; 0: none */
	struct sample_set samples;
	VEC(struct store_host *) hosts; /* whose numbers moved with it, each once */
	/* private */
	struct arena arena;
	char from_key[HOST_ID_MAX], to_key[HOST_ID_MAX];
};

/* Begin at the offset row (its texts are copied). */
void partition_buffer_init(struct partition_buffer *buffer, const struct store_offset *offset);
void partition_buffer_done(struct partition_buffer *buffer);

/* Where reading begins: at the remembered message, or where the topic begins. */
int64_t partition_buffer_start(const struct partition_buffer *buffer);

/* Begin at another offset than the table says, since the topic has no longer what was there. */
void partition_buffer_skip_to(struct partition_buffer *buffer, int64_t offset);

/* The record is dealt with: the next one is to be read. */
void partition_buffer_advance(struct partition_buffer *buffer, const struct kafka_record *record);

/* These samples are a message of the buffer. */
void partition_buffer_add_samples(struct partition_buffer *buffer,
				  const struct sample_set *samples);

enum partition_check {
	PARTITION_SAME,    /* the remembered record: it was counted before */
	PARTITION_FOREIGN, /* another one stands where it stood */
	PARTITION_BEYOND,  /* nothing stands there; this one comes after it */
};

/* What the first record of a part says of the topic; clears must_check. */
enum partition_check partition_buffer_check(struct partition_buffer *buffer,
					    const struct kafka_record *record) MUST_CHECK;

/* Note that this host's numbers move with this buffer. */
void partition_buffer_add_host(struct partition_buffer *buffer, struct store_host *host);

/* All of it is stored: the table says what `to` said. */
void partition_buffer_stored(struct partition_buffer *buffer);
