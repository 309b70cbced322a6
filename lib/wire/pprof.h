// SPDX-License-Identifier: Apache-2.0
/*
 * pprof - encodes the samples of one profile type as a gzip-compressed pprof profile.
 *
 * Samples with the same stack and labels are added up. The first mapping, which readers name as the
 * main file, is that of the program with the largest sum. Native frames keep their ELF addresses,
 * in mappings with path and build id. Source: perftools.profiles.Profile, `proto/pprof.proto`.
 */
#pragma once

#include "profile/sample_set.h"

struct pprof_options {
	str type;                  /* five-part id: sample type, units, period type */
	uint64_t start_ms, end_ms; /* the window: time_nanos and duration_nanos */
	uint64_t period;           /* 0: unknown */
	bool series_labels;        /* also write the series' labels on each sample */
	bool sample_labels;        /* write the samples' own labels */
	size_t memory_max;         /* bytes of memory for the encoding; 0: no limit */
	/* Called now and then; false ends the encoding. NULL: it is not called. */
	bool (*may_continue)(void *self);
	void *self;
};

/*
 * Only samples whose series has `options->type` are written. The bytes are in the arena. A NULL
 * ptr: the encoding needs more than memory_max, or may_continue() returned false.
 */
str pprof_write(const struct sample_set *set, const struct pprof_options *options,
		struct arena *arena);
