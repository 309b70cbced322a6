// SPDX-License-Identifier: Apache-2.0
/*
 * sideband - reads perf's sideband events, the kernel's records of fork, exec, exit, mappings and
 * kernel symbols.
 *
 * The module opens one perf event of type PERF_COUNT_SW_DUMMY (it counts nothing, but emits the
 * records) per CPU, each with its own ring, and reads the rings by polling. Records are reported
 * ring by ring: those of one CPU are in order of time, those of different CPUs are not. The caller
 * sorts them by time_ns (CLOCK_MONOTONIC, the clock of the samples); timeline does this. Agent
 * thread only.
 */
#pragma once

#include "agent/process/sideband_record.h"
#include "base/token_bucket.h"

struct sideband_ring;

struct sideband {
	uint64_t records, lost, malformed; /* cumulative; lost: by the kernel */
	uint64_t skipped;                  /* cumulative: not read, beyond the budget */
	bool build_ids;  /* the kernel reports build ids of mapped files (since Linux 5.12) */
	bool is_pressed; /* set by the last drain: the rings fill fast; drain every DRAIN_PRESSED_MS
			  */
	/* private */
	struct sideband_ring *rings;
	size_t ring_count, page_bytes, ring_bytes;
	struct token_bucket budget; /* of records that are read */
	size_t fullest;             /* bytes in the fullest ring at the last drain */
	char *scratch;              /* for a record that wraps around the end of its ring */
};

typedef void sideband_on_record(void *self, const struct sideband_record *record);

/* Initialises without rings. Cannot fail. */
void sideband_init(struct sideband *band);

/* Closes all rings and frees the memory. Accepts a zeroed struct. */
void sideband_close(struct sideband *band);

/*
 * Opens rings for exactly these CPUs. Rings of other CPUs are closed, and their unread records are
 * dropped. Call it again when the set of online CPUs changes. A CPU that is offline is skipped.
 * `cpus` is borrowed during the call. ERR_IO or ERR_NOT_FOUND: an event cannot be opened or mapped;
 * the rings opened so far stay open, and the caller may call again or close.
 */
bool sideband_follow(struct sideband *band, const uint32_t *cpus, size_t cpu_count,
		     struct err *err) MUST_CHECK;

/*
 * Calls `on_record` for each record in the rings, except records of type SIDEBAND_OTHER and records
 * beyond the budget. Record and texts are valid until the callback returns. Cannot fail: malformed,
 * lost and skipped records are counted.
 */
void sideband_drain(struct sideband *band, sideband_on_record *on_record, void *self);
