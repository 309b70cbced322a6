// SPDX-License-Identifier: Apache-2.0
/*
 * partition_buffer - the data of one Kafka partition that was read and is not stored yet.
 *
 *     table:  from.next ─┐                        ┌─ to.next
 *     topic:  ... 41 [42]│ 43 44 45 ... messages  │ 51 ...
 *              remembered └── in `samples` ───────┘
 *
 * `from` is the offset row as PostgreSQL has it, and the fence of the next flush; `to` is the row
 * after that flush. At the start the message at from.next - 1 is read once more. If its key or
 * timestamp differs from the remembered one, the topic is not the one that was read before. The
 * buffer owns its memory; partition_buffer_done() frees it. Consumer thread only.
 */
#pragma once

#include "base/vec.h"
#include "client/kafka_consumer.h"
#include "ingester/consume/hosts_internal.h"
#include "ingester/ingester_limits.h"
#include "store/write/writer.h"

struct partition_buffer {
	struct store_offset from, to;
	bool must_check;    /* compare the next record with the remembered one */
	bool is_dirty;      /* `to` or the samples are ahead of the table */
	uint64_t messages;  /* processed and not stored */
	int64_t oldest_ms;  /* the oldest Kafka timestamp of them; INT64_MAX: none has one */
	int64_t sampled_ms; /* the smallest of each message's newest sample time; INT64_MAX: none */
	int64_t newest_ms;  /* the newest sample stored since the assignment; 0: none */
	struct sample_set samples;
	VEC(struct store_host *) hosts; /* the hosts of these messages, each once */
	/* private */
	struct arena arena;
	char from_key[HOST_ID_MAX], to_key[HOST_ID_MAX];
};

/* Start at the offset row (its texts are copied). */
void partition_buffer_init(struct partition_buffer *buffer, const struct store_offset *offset);
void partition_buffer_done(struct partition_buffer *buffer);

/*
 * The offset to start reading at: the remembered message's; without one, the next offset; if
 * nothing was ever stored, KAFKA_FROM_BEGINNING.
 */
int64_t partition_buffer_start(const struct partition_buffer *buffer);

/* Start at another offset than the table's, because the topic no longer has the message there. */
void partition_buffer_skip_to(struct partition_buffer *buffer, int64_t offset);

/* The record is processed: read the next one. */
void partition_buffer_advance(struct partition_buffer *buffer, const struct kafka_record *record);

/* Add the samples of one message; they are copied. */
void partition_buffer_add_samples(struct partition_buffer *buffer,
				  const struct sample_set *samples);

enum partition_check {
	PARTITION_SAME,    /* the remembered record, which is stored already */
	PARTITION_FOREIGN, /* another record at the remembered offset */
	PARTITION_BEYOND,  /* a later record; the remembered offset has none */
};

/* Compare the first record read with the remembered one; clears must_check. */
enum partition_check partition_buffer_check(struct partition_buffer *buffer,
					    const struct kafka_record *record) MUST_CHECK;

/* Note that the messages in the buffer changed this host's row; it is stored with them. */
void partition_buffer_add_host(struct partition_buffer *buffer, struct store_host *host);

/* The flush was committed: the table now has `to`. Empties the buffer. */
void partition_buffer_stored(struct partition_buffer *buffer);
