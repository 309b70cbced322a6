// SPDX-License-Identifier: Apache-2.0
/*
 * timeline - merges samples and sideband events in order of time. Pure.
 *
 * Records come from many rings, each in its own order. All records before a moment T are complete
 * once all rings have been read after T. timeline_run() hands out only these; later records wait
 * for the next round. So a sample always meets the process table as it was at its tick, even if the
 * process lived for 1 ms. At equal times events come first, in order of arrival. The timeline also
 * adds to each exec the path of its program, which the kernel reports only in a later map event.
 *
 * Owns copies of all waiting records, up to TIMELINE_BYTES_MAX; records beyond that are dropped and
 * counted.
 */
#pragma once

#include "agent/process/sideband_record.h"
#include "base/vec.h"
#include "bpf/sample.h"

struct timeline_item {
	uint64_t time_ns;
	uint32_t order; /* events count from 0, samples from TIMELINE_SAMPLE */
	const void *what;
};

struct timeline {
	uint64_t dropped_events, dropped_samples; /* cumulative: the memory limit was reached */
	/* private */
	struct arena arenas[2]; /* of the current round, and of the previous one */
	int current;
	VEC(struct timeline_item) items;
	uint32_t events, samples;
};

struct timeline_sink {
	void (*event)(void *self, const struct sideband_record *record);
	void (*sample)(void *self, const struct sample_record *record);
	void *self;
};

/* Both functions copy the record. `bytes`: the length of the sample, without unused frames. */
void timeline_add_event(struct timeline *timeline, const struct sideband_record *record);
void timeline_add_sample(struct timeline *timeline, const struct sample_record *record,
			 size_t bytes);

/*
 * Appends a continuation record (SAMPLE_CONTINUES) to the stack of its sample, which was added
 * before. A record that continues no waiting sample is dropped.
 */
void timeline_add_stack(struct timeline *timeline, const struct sample_record *record);

/* Hands all records up to until_ns to the sink, in order. They are valid until the callback
 * returns.
 */
void timeline_run(struct timeline *timeline, uint64_t until_ns, const struct timeline_sink *sink);

void timeline_done(struct timeline *timeline);
