// SPDX-License-Identifier: Apache-2.0
/*
 * side_band - what the kernel tells about processes: fork, exec, exit, mappings, kernel symbols.
 *
 * One dummy perf event per CPU with a ring of its own, read by polling. Records of one CPU come in
 * order; across CPUs their times (CLOCK_MONOTONIC, as the samples') put them in order. Owned by the
 * agent's thread.
 */
#pragma once

#include "side_band_record.h"

struct side_band_ring;

struct side_band {
	uint64_t records, lost, malformed; /* cumulative */
	bool build_ids;                    /* the kernel tells them (5.12) */
	bool is_pressed; /* it fills so fast that it should be drained more often */
	/* private */
	struct side_band_ring *rings;
	size_t ring_count, page_bytes, ring_bytes;
	size_t fullest; /* bytes of the fullest ring, when it was drained last */
	char *scratch;  /* for a record that wraps around the end of its ring */
};

typedef void side_band_take(void *self, const struct side_band_record *record);

void side_band_init(struct side_band *band);
void side_band_close(struct side_band *band);

/* Listen on these CPUs and no others; again when CPUs come or go. */
bool side_band_follow(struct side_band *band, const uint32_t *cpus, size_t cpu_count,
		      struct err *err) MUST_CHECK;

/* Hand over all that has come; what a record borrows is good until `take` returns. */
void side_band_drain(struct side_band *band, side_band_take *take, void *self);
