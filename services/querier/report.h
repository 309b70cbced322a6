// SPDX-License-Identifier: Apache-2.0
/*
 * report - what an input looks like: a flame graph, a table, collapsed lines, pprof.
 *
 * A report is a row of a table: its name, its content type, and a function that writes a merged
 * input. More of them come as rows.
 */
#pragma once

#include "merge.h"
#include "query_stats.h"

struct report_input {
	struct merge *merge;
	str type; /* five-part id */
	struct window window;
	const struct query_stats *stats;
	const str *warnings; /* what the reader should know of the whole */
	size_t warning_count;
};

struct report {
	const char *name;
	const char *content_type;
	const char *file_name; /* that a browser saves it under; NULL: it shows it */
	bool by_address;       /* it shows addresses and lines; else functions alone */
	bool (*write)(const struct report_input *input, struct arena *arena, str *ret_body,
		      struct err *err);
};

enum { REPORT_COUNT = 4, REPORT_METRICS = 1 };
extern const struct report reports[REPORT_COUNT];
extern struct metric *const report_metrics[REPORT_METRICS];

/* Write the report and count it. ERR_LIMIT: it needs more memory than the merge may. */
bool report_write(const struct report *report, const struct report_input *input,
		  struct arena *arena, str *ret_body, struct err *err) MUST_CHECK;

/* ERR_INVALID names those that exist. */
bool report_find(str name, const struct report **ret_report, struct err *err) MUST_CHECK;
