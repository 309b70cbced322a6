/*
 * report - what an answer looks like: collapsed lines, pprof.
 *
 * A report is a row of a table: its name, its content type, and a function that writes a merged
 * answer. More of them come as rows.
 */
#pragma once

#include "merge.h"

struct answer {
	const struct merge *merge;
	str type; /* five-part id */
	struct window window;
};

struct report {
	const char *name;
	const char *content_type;
	const char *file_name; /* that a browser saves it under; NULL: it shows it */
	bool (*write)(const struct answer *answer, struct arena *arena, str *ret_body,
		      struct err *err);
};

enum { REPORT_COUNT = 2 };
extern const struct report reports[REPORT_COUNT];

/* ERR_INVALID names those that exist. */
bool report_find(str name, const struct report **ret_report, struct err *err) MUST_CHECK;
