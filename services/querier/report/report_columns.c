// SPDX-License-Identifier: Apache-2.0
#include "querier/report/report_columns.h"

#include <stdio.h>

#define COLUMN_NAMED(NAME, name) [COLUMN_##NAME] = #name,
const char *const report_column_names[REPORT_COLUMN_COUNT] = { REPORT_COLUMNS(COLUMN_NAMED) };

_Static_assert(COLUMN_BUILDS == REPORT_COLUMN_COUNT - 1, "the default columns are those before it");

static bool add_column(str name, report_columns *columns, struct err *err)
{
	char names[128];
	size_t len = 0;

	for (enum report_column i = 0; i < REPORT_COLUMN_COUNT; i++) {
		if (!str_eq(str_from(report_column_names[i]), name)) {
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						i ? ", " : "", report_column_names[i]);
			continue;
		}
		if (report_columns_has(*columns, i))
			return err_set(err, ERR_INVALID, "columns names %s twice",
				       report_column_names[i]);
		*columns |= 1U << i;
		return true;
	}
	return err_set(err, ERR_INVALID, "columns: \"" STR_FMT "\" is none of %s",
		       (int)(name.len < 64 ? name.len : 64), name.ptr, names);
}

bool report_columns_parse(str text, report_columns *ret_columns, struct err *err)
{
	report_columns columns = text.len ? 0 : REPORT_COLUMNS_DEFAULT;

	for (bool more = text.len > 0; more;) {
		more = str_find(text, STR(",")) < text.len;
		if (!add_column(str_trim(str_cut(&text, ',')), &columns, err))
			return false;
	}
	*ret_columns = columns;
	return true;
}
