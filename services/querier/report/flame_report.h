// SPDX-License-Identifier: Apache-2.0
/*
 * flame_report - writes flame graphs as JSON.
 *
 * A flame graph, or a comparison of two, is a tree of columns: one array of all nodes for each
 * property. Texts are indexes into the array `names`, in which 0 is the empty text. All functions
 * borrow their input during the call and write the body in the arena. All fail only with ERR_LIMIT:
 * more memory than the merge may use, or a sum beyond 64 bits. Any thread.
 */
#pragma once

#include "querier/report/diff.h"
#include "querier/report/report.h"

/* A flame graph: the columns of values are `self` and `total`. */
bool flame_report_write(const struct report_input *input, struct arena *arena, str *ret_body,
			struct err *err) MUST_CHECK;

/* A comparison: the columns of values are `a_self`, `a_total`, `b_self`, `b_total`. */
bool diff_report_write(const struct report_input *input, const struct diff *diff,
		       struct arena *arena, str *ret_body, struct err *err) MUST_CHECK;
