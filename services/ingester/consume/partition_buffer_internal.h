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
 * buffer owns its memory, which partition_buffer_done() frees; it must not move. The functions
 * cannot fail. Consumer thread only.
 */
#pragma once

#include "base/vec.h"
#include "client/kafka_consumer.h"
#include "ingester/consume/hosts_internal.h"
#include "ingester/ingester_limits.h"
#include "store/write/writer.h"

struct partition_buffer {
	struct store_offset from, to; /* keys are at most the first HOST_ID_MAX bytes */
	bool must_check;              /* compare the next record with the remembered one */
	bool is_dirty;                /* `to` or the samples are ahead of the table */
	uint64_t messages;            /* processed and not stored */
	int64_t end;                  /* all messages before this offset were read; 0: unknown */
	int64_t oldest_ms;  /* oldest Kafka timestamp of these messages; INT64_MAX: none */
	int64_t sampled_ms; /* minimum, over messages, of the newest sample time; INT64_MAX: none */
	int64_t newest_ms;  /* newest sample stored since the assignment, Unix ms; 0: none */
	struct sample_set samples;
	VEC(struct store_host *) hosts; /* the hosts of these messages, each once; borrowed */
	/* private */
	struct arena arena;
	char from_key[HOST_ID_MAX], to_key[HOST_ID_MAX];
};

/* Overwrites *buffer: an empty buffer that starts at the offset row, whose texts are copied. */
void partition_buffer_init(struct partition_buffer *buffer, const struct store_offset *offset);

/* Frees the memory. Accepts {0}. */
void partition_buffer_done(struct partition_buffer *buffer);

/*
 * The offset at which to start reading: that of the remembered message; if none is remembered, the
 * next offset; if nothing was ever stored, KAFKA_FROM_BEGINNING.
 */
int64_t partition_buffer_start(const struct partition_buffer *buffer);

/* Starts at another offset than the table's, because the topic no longer has the message there. */
void partition_buffer_skip_to(struct partition_buffer *buffer, int64_t offset);

/* Call it when the record is processed: `to` becomes the offset after the record. Copies the key.
 */
void partition_buffer_advance(struct partition_buffer *buffer, const struct kafka_record *record);

/* Adds the samples of one message; the samples are copied. */
void partition_buffer_add_samples(struct partition_buffer *buffer,
				  const struct sample_set *samples);

enum partition_check {
	PARTITION_SAME,    /* the remembered record, which is stored already */
	PARTITION_FOREIGN, /* another record at the remembered offset */
	PARTITION_BEYOND,  /* a later record; the remembered offset has none */
};

/*
 * Call it for the first record read if must_check is set: compares the record with the remembered
 * one. Clears must_check.
 */
enum partition_check partition_buffer_check(struct partition_buffer *buffer,
					    const struct kafka_record *record) MUST_CHECK;

/* True if the buffer is past the record: librdkafka has delivered it a second time. False while
 * must_check is set. */
bool partition_buffer_is_past(const struct partition_buffer *buffer,
			      const struct kafka_record *record);

/* Notes that the messages in the buffer changed this host: the flush stores both. `host` is
 * borrowed until the buffer is emptied or freed. */
void partition_buffer_add_host(struct partition_buffer *buffer, struct store_host *host);

/* Call it when the flush was committed: `from` becomes `to`, and the buffer is emptied. */
void partition_buffer_stored(struct partition_buffer *buffer);
