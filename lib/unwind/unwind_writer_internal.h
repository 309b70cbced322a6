// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_writer - writes rows as the pages of an unwind table (unwind_format.h). One thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "unwind/unwind_rows_internal.h"

/* The pages of the table, in the arena. rows has at least one row. ERR_LIMIT: too many rows. */
bool unwind_pages_write(const struct unwind_rows *rows, struct arena *arena, str *ret_pages,
			struct err *err) MUST_CHECK;
