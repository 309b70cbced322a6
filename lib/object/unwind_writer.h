// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_writer - lays rows out in pages, as unwind_format.h says.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "unwind_rows.h"

/* The pages of a table, in the arena. ERR_LIMIT: there is no table of so many rows. There is at
 * least one row. */
bool unwind_pages_write(const struct unwind_rows *rows, struct arena *arena, str *ret_pages,
			struct err *err) MUST_CHECK;
