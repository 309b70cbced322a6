// SPDX-License-Identifier: Apache-2.0
/*
 * side_band - what the kernel tells about processes: fork, exec, exit, mappings, kernel symbols.
 *
 * One dummy perf event per CPU with a ring of its own, read by polling. Records of one CPU come in
 * order; across CPUs their times (CLOCK_MONOTONIC, as the samples') put them in order. Owned by the
 * agent's thread.
 */
#pragma once

#include "sideband_record.h"

struct sideband_ring;

struct sideband {
	uint64_t records, lost, malformed; /* cumulative */
	bool build_ids;                    /* the kernel tells them (5.12) */
	bool is_pressed; /* it fills so fast that it should be drained more often */
	/* private */
	struct sideband_ring *rings;
	size_t ring_count, page_bytes, ring_bytes;
	size_t fullest; /* bytes of the fullest ring, when it was drained last */
	char *scratch;  /* for a record that wraps around the end of its ring */
};

typedef void sideband_on_record(void *self, const struct side_band_record *record);

void sideband_init(struct sideband *band);
void sideband_close(struct sideband *band);

/* Listen on these CPUs and no others; again when CPUs come or go. */
bool sideband_follow(struct sideband *band, const uint32_t *cpus, size_t cpu_count,
		     struct err *err) MUST_CHECK;

/* Hand over all that has come; what a record borrows is good until `take` returns. */
void sideband_drain(struct sideband *band, sideband_on_record *take, void *self);
