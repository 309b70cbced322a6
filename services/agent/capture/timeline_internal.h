// SPDX-License-Identifier: Apache-2.0
/*
 * timeline - puts samples and sideband events into order of time.
 *
 * Records come from many rings, each in its own order. All records before a moment T are complete
 * once all rings have been read after T. timeline_run() hands out only these; later records wait
 * for the next round. So the process table is always as it was at the tick of the sample, even if
 * the process lived for 1 ms. At equal times events come first, in order of arrival. The timeline
 * also adds to each exec the path of its program, which the kernel reports only in a later map
 * event.
 *
 * Owns copies of all waiting records (a zeroed struct is valid and empty; timeline_done() frees),
 * up to TIMELINE_BYTES_MAX; records beyond that are dropped and counted. No I/O. Agent thread only.
 */
#pragma once

#include "agent/process/sideband_record.h"
#include "base/arena.h"
#include "bpf/sample.h"

struct timeline_item {
	uint64_t time_ns;
	uint32_t number; /* in order of arrival */
	bool is_sample;
	uint8_t arena;    /* that `what` is in */
	const void *what; /* a struct sample_record or a struct sideband_record */
};

/* Why a continuation record was dropped; the sample keeps its shorter stack. */
enum timeline_stack_drop {
	STACK_NO_SAMPLE,     /* its sample is not waiting: it was lost, or processed already */
	STACK_GAP,           /* it does not follow what is there, or exceeds the limit of a stack */
	STACK_TIMELINE_FULL, /* the memory limit was reached */
	STACK_DROP_COUNT
};
extern const char *const timeline_stack_drop_names[STACK_DROP_COUNT];

struct timeline {
	uint64_t dropped_events, dropped_samples;  /* cumulative: the memory limit was reached */
	uint64_t dropped_stacks[STACK_DROP_COUNT]; /* cumulative */
	uint64_t brief_events; /* cumulative: were not handed out, see timeline_run() */
	/* private */
	struct arena arenas[2]; /* of the current round, and of the previous one */
	uint8_t current;
	struct arena scratch; /* of timeline_run() */
	struct timeline_item *items;
	size_t len, cap;
	uint32_t number; /* of the next item */
};

struct timeline_sink {
	void (*event)(void *self, const struct sideband_record *record);
	void (*sample)(void *self, const struct sample_record *record);
	void *self;
};

/* Copies the record with its path. At TIMELINE_BYTES_MAX the record is dropped and counted. */
void timeline_add_event(struct timeline *timeline, const struct sideband_record *record);

/* Copies the first `bytes` bytes of the record: its length without unused frames. At
 * TIMELINE_BYTES_MAX the sample is dropped and counted. */
void timeline_add_sample(struct timeline *timeline, const struct sample_record *record,
			 size_t bytes);

/*
 * Appends the stack bytes of a continuation record (SAMPLE_CONTINUES) to its sample, which was
 * added before, or drops the record and counts why.
 */
void timeline_add_stack(struct timeline *timeline, const struct sample_record *record);

/*
 * Hands all records with time_ns <= until_ns to the sink, in order, and removes them; except the
 * events of processes that started and ended while their events waited, without a sample. A record
 * is valid until the callback returns. Callbacks must not add records.
 */
void timeline_run(struct timeline *timeline, uint64_t until_ns, const struct timeline_sink *sink);

/* Frees all records, without a call of a sink. The struct is empty afterwards. */
void timeline_done(struct timeline *timeline);
