// SPDX-License-Identifier: Apache-2.0
/*
 * scan_plan - what a query reads: which stored rows, and which of their series, samples and
 * columns. A value, computed before the scan ("store/scan/row_scan.h").
 *
 *     struct scan_plan plan = scan_plan_make(start_ms, end_ms, kinds, kind_count);
 *     scan_plan_use_days(&plan);      if sums of whole days suffice as well
 *     plan.series = &matched;         ... and the other members that the caller sets
 *
 * A sample is never more than AHEAD_MS ahead of the arrival of its row, but it may have arrived any
 * time later. `chunk_raw` rows are therefore searched from the hour of the window's start on: all
 * rows that arrived until LATE_MS after the window's end, and of the rows that arrived later, those
 * marked `late`. `chunk` rows are searched by the day of their samples. For whole hours and days,
 * sums are used if the caller allows it. No I/O, any thread.
 */
#pragma once

#include "store/chunk/chunk_directory.h"
#include "store/scan/matched_series.h"

/* [start_ms, end_ms), Unix ms; empty if start_ms >= end_ms. */
struct scan_range {
	uint64_t start_ms, end_ms;
};

/* Where rows are read from. No sample is counted by two of the sources of one plan. */
enum scan_source {
	SCAN_HOUR_SUMS,    /* `rollup`, whole hours that are not part of whole days */
	SCAN_DAY_SUMS,     /* `rollup`, whole days */
	SCAN_NOT_SUMMED,   /* `chunk`, whole hours that have no sums yet */
	SCAN_GAUGES,       /* `chunk`, whole hours whose sums lack gauges: of an old version */
	SCAN_BEFORE_HOURS, /* `chunk`, from the window's start to the whole hours */
	SCAN_FROM_HOURS,   /* `chunk`, from the end of the whole hours; without these: all */
	SCAN_RAW,          /* `chunk_raw`, rows that arrived near the window */
	SCAN_RAW_LATE,     /* `chunk_raw`, rows that arrived later and have old samples */
	SCAN_SOURCE_COUNT,
};

struct scan_plan {
	struct scan_range window;
	/* Whole hours of which sums suffice. If there are none: empty, at the hour of the window's
	 * start. */
	struct scan_range hours;
	/* Whole days of which sums without instances suffice. If there are none: empty, later than
	 * every sample. */
	struct scan_range days;
	const int32_t *kinds; /* sums to use: enum rollup_kind; borrowed */
	size_t kind_count;
	/* Set by the caller; pointers are borrowed: */
	bool sums_alone;     /* scan only sums; samples outside whole hours are not read */
	const bool *buckets; /* by bucket, SERIES_BUCKETS flags; NULL: all */
	const struct matched_series *series; /* NULL: all of the selector's type */
	/* Its matchers are tested on samples of the series for which they are open. NULL: nothing
	 * is tested, and `series` NULL means the series of all types. */
	const struct selector *selector;
	bool keeps_candidates; /* the sink also wants samples that the matchers reject */
	unsigned int without;  /* columns that are not needed: flags of enum chunk_without */
	/* Sums of series over steps suffice: the start of the first step and the length of a step,
	 * Unix ms. Length 0: samples are needed. */
	uint64_t steps_start_ms, step_ms;
};

/* The plan for the window that uses sums of these kinds, ROLLUP_GAUGES first, for whole hours. No
 * kinds: the plan reads samples only. Cannot fail. */
struct scan_plan scan_plan_make(uint64_t start_ms, uint64_t end_ms, const int32_t *kinds,
				size_t kind_count);

/* As scan_plan_make(), with the kinds of sums that together contain every series. */
struct scan_plan scan_plan_make_series(uint64_t start_ms, uint64_t end_ms);

/* Uses daily sums for whole days, if the plan uses sums without instances. */
void scan_plan_use_days(struct scan_plan *plan);

/* The sources that the scan reads: bit i for source i of enum scan_source. 0: nothing is read. */
uint32_t scan_plan_sources(const struct scan_plan *plan);

/* The parts of the window before and after the whole hours: sums do not suffice there. */
void scan_plan_remainder(const struct scan_plan *plan, struct scan_range ret_parts[2]);

/*
 * Sets ret_series[i] (all false before) for the series of the directory of which the row can have
 * wanted samples. Returns true if there is one.
 */
bool scan_plan_wants(const struct scan_plan *plan, const struct chunk_directory *directory,
		     bool *ret_series);

/* Callback for chunk_filter.series; `self` is a struct scan_plan, whose series must outlive the
 * set. */
bool scan_plan_series(void *self, uint64_t id, str type, struct labels *ret_labels);
