/*
 * flame_report - an answer as JSON: a tree of columns for a flame graph, rows for a table.
 *
 * Columns beside name, self and total are numbers of `names` too; 0 is the empty text.
 */
#pragma once

#include "report.h"

bool flame_report_write(const struct answer *answer, struct arena *arena, str *ret_body,
			struct err *err) MUST_CHECK;
bool flame_table_report_write(const struct answer *answer, struct arena *arena, str *ret_body,
			      struct err *err) MUST_CHECK;
