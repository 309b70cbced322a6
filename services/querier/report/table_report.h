// SPDX-License-Identifier: Apache-2.0
/*
 * table_report - writes the table of functions as JSON: an array of rows.
 *
 * Any thread.
 */
#pragma once

#include "querier/report/report.h"

/* The body is in the arena; `input` is borrowed during the call. ERR_LIMIT: more memory than the
 * merge may use, or a sum beyond 64 bits. */
bool table_report_write(const struct report_input *input, struct arena *arena, str *ret_body,
			struct err *err) MUST_CHECK;
