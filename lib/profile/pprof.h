// SPDX-License-Identifier: Apache-2.0
/*
 * pprof - a sample_set of one profile type as a gzip'd pprof profile.
 *
 * Samples of equal stack and labels become one. Native frames keep their ELF addresses, in mappings
 * with path and build id. Source: perftools.profiles.Profile, `proto/pprof.proto`.
 */
#pragma once

#include "profile/sample_set.h"

struct pprof_options {
	str type;                  /* five-part id: sample type, units, period type */
	uint64_t start_ms, end_ms; /* the window: time_nanos and duration_nanos */
	uint64_t period;           /* 0: not said */
	bool series_labels;        /* write the series' labels on each sample too */
	bool sample_labels;        /* write the samples' own labels */
	size_t memory_max;         /* bytes that making it may take; 0: as many as it needs */
};

/* Only the samples of series of `options->type` are written. A NULL ptr: beyond memory_max. */
str pprof_write(const struct sample_set *set, const struct pprof_options *options,
		struct arena *arena);
