// SPDX-License-Identifier: Apache-2.0
/*
 * timeline - samples and side-band events, merged in the order of their times. Pure.
 *
 * They come from many rings, each in its own order. What lies before a moment is complete once all
 * rings have been read after it; only that is let through, the rest waits for the next round. So a
 * sample always meets the processes as they were at its tick, be it in a process that lived 1 ms.
 * Equal times: events first, in the order they came. An exec is told with the path of what it runs,
 * which the kernel tells only after.
 */
#pragma once

#include "base/vec.h"
#include "sample.h"
#include "sideband_record.h"

struct timeline_item {
	uint64_t time_ns;
	uint32_t order; /* events count from 0, samples from TIMELINE_SAMPLE */
	const void *what;
};

struct timeline {
	uint64_t dropped_events, dropped_samples; /* cumulative: more waits than may be held */
	/* private */
	struct arena arenas[2]; /* the current round, and the one before */
	int current;
	VEC(struct timeline_item) items;
	uint32_t events, samples;
};

struct timeline_sink {
	void (*event)(void *self, const struct side_band_record *record);
	void (*sample)(void *self, const struct sample_record *record);
	void *self;
};

/* Both copy. A sample's frames that are not there are not copied. */
void timeline_add_event(struct timeline *timeline, const struct side_band_record *record);
void timeline_add_sample(struct timeline *timeline, const struct sample_record *record,
			 size_t bytes);

/*
 * More of the stack of a sample that was added, as SAMPLE_CONTINUES says; what fits to none is left
 * out.
 */
void timeline_add_stack(struct timeline *timeline, const struct sample_record *record);

/* Hand over, in order, all that is not later than until_ns. */
void timeline_run(struct timeline *timeline, uint64_t until_ns, const struct timeline_sink *sink);

void timeline_done(struct timeline *timeline);
