// SPDX-License-Identifier: Apache-2.0
/*
 * sideband - reads perf sideband events: fork, exec, exit, mappings, kernel symbols.
 *
 * Opens one dummy perf event per CPU, each with its own ring, and reads the rings by polling.
 * Records of one CPU are in order. Records of different CPUs are ordered by time (CLOCK_MONOTONIC,
 * the clock of the samples). Agent thread only.
 */
#pragma once

#include "agent/process/sideband_record.h"

struct sideband_ring;

struct sideband {
	uint64_t records, lost, malformed; /* cumulative */
	bool build_ids;                    /* the kernel reports build ids (Linux 5.12) */
	bool is_pressed;                   /* the rings fill fast: drain them more often */
	/* private */
	struct sideband_ring *rings;
	size_t ring_count, page_bytes, ring_bytes;
	size_t fullest; /* bytes in the fullest ring at the last drain */
	char *scratch;  /* for a record that wraps around the end of its ring */
};

typedef void sideband_on_record(void *self, const struct sideband_record *record);

void sideband_init(struct sideband *band);
void sideband_close(struct sideband *band);

/* Opens rings for exactly these CPUs. To be called again when CPUs come or go. A CPU that is
 * offline is skipped. */
bool sideband_follow(struct sideband *band, const uint32_t *cpus, size_t cpu_count,
		     struct err *err) MUST_CHECK;

/* Calls `on_record` for each record in the rings, except records of type SIDEBAND_OTHER. Texts of
 * a record are valid until the callback returns. */
void sideband_drain(struct sideband *band, sideband_on_record *on_record, void *self);
