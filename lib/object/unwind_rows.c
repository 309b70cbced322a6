// SPDX-License-Identifier: Apache-2.0
#include "unwind_rows.h"

#include <assert.h>

void unwind_rows_init(struct unwind_rows *rows, struct arena *arena, uint64_t base)
{
	*rows = (struct unwind_rows){ .arena = arena, .base = base };
	unwind_rules_init(&rows->rules, arena);
}

static void row_push(struct unwind_rows *rows, uint32_t address, uint16_t rule)
{
	if (rows->rows.len && rows->rows.items[rows->rows.len - 1].address == address)
		rows->rows.len--;
	if (rows->rows.len && rows->rows.items[rows->rows.len - 1].rule == rule)
		return;
	*vec_push(rows->arena, &rows->rows) = (struct unwind_row){ address, rule };
}

void unwind_rows_begin(struct unwind_rows *rows, uint32_t start)
{
	assert(start >= rows->end);
	if (rows->rows.len && start - rows->end > UNWIND_GAP_BRIDGED)
		row_push(rows, rows->end, UNWIND_RULE_NONE);
}

void unwind_rows_add(struct unwind_rows *rows, uint32_t address, const struct unwind_rule *rule)
{
	row_push(rows, address, unwind_rules_id(&rows->rules, rule));
}

void unwind_rows_end(struct unwind_rows *rows, uint32_t end)
{
	rows->end = end;
}
