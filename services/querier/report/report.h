// SPDX-License-Identifier: Apache-2.0
/*
 * report - the formats of a profile: flame graph, table, collapsed stacks, pprof.
 *
 * A report is a row of the table `reports`: name, content type, and a function that writes a merge.
 * To add a report, add a row. Pure, except for a metric. Any thread; the merge belongs to one
 * thread.
 */
#pragma once

#include "querier/merge/merge.h"
#include "querier/report/frame_identity.h"
#include "querier/report/query_stats.h"
#include "querier/report/report_columns.h"

struct report_input {
	struct merge *merge;
	str type; /* profile type: an id of five parts, separated by ':' */
	struct window window;
	enum frame_identity identity; /* for reports with nodes or rows */
	report_columns columns;
	const struct query_stats *stats; /* all pointers are borrowed during report_write() */
	const str *warnings;             /* about the response as a whole */
	size_t warning_count;
};

struct report {
	const char *name;
	const char *content_type;
	const char *file_name; /* for a download in a browser; NULL: the browser shows it */
	bool by_address;       /* has addresses and lines; false: only functions */
	bool has_nodes;        /* has nodes or rows: `identity` and `columns` apply */
	bool (*write)(const struct report_input *input, struct arena *arena, str *ret_body,
		      struct err *err);
};

enum { REPORT_COUNT = 4 };
extern const struct report reports[REPORT_COUNT];
extern struct metric *const report_metrics[];

/* Writes the report and counts it in the metrics. The body is in the arena. ERR_LIMIT: more memory
 * than the merge may use, or a sum beyond 64 bits. */
bool report_write(const struct report *report, const struct report_input *input,
		  struct arena *arena, str *ret_body, struct err *err) MUST_CHECK;

/* Finds a report by name; the result is constant. ERR_INVALID: there is no such report; the message
 * lists the names. */
bool report_find(str name, const struct report **ret_report, struct err *err) MUST_CHECK;
