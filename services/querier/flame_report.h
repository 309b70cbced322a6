// SPDX-License-Identifier: Apache-2.0
/*
 * flame_report - an input as JSON: a tree of columns for a flame graph or two that are compared,
 * rows for a table.
 *
 * Columns beside name, self and total are numbers of `names` too; 0 is the empty text.
 */
#pragma once

#include "diff.h"
#include "report.h"

bool flame_report_write(const struct report_input *input, struct arena *arena, str *ret_body,
			struct err *err) MUST_CHECK;

/* The same for two: `a_self`, `a_total`, `b_self`, `b_total`. */
bool diff_report_write(const struct report_input *input, const struct diff *diff,
		       struct arena *arena, str *ret_body, struct err *err) MUST_CHECK;
bool flame_table_report_write(const struct report_input *input, struct arena *arena, str *ret_body,
			      struct err *err) MUST_CHECK;
