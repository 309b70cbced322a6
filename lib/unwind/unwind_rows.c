// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_rows_internal.h"

#include <assert.h>
#include <string.h>

void unwind_rules_init(struct unwind_rules *rules, struct arena *arena)
{
	*rules = (struct unwind_rules){
		.items = arena_array(arena, struct unwind_rule, UNWIND_RULES_MAX),
		.slots = arena_array(arena, uint16_t, UNWIND_RULE_SLOTS),
		.len = UNWIND_RULE_FIRST,
	};
	rules->items[UNWIND_RULE_NONE].cfa = UNWIND_CFA_NONE;
	rules->items[UNWIND_RULE_UNSUPPORTED].cfa = UNWIND_CFA_UNSUPPORTED;
}

static uint32_t slot_of(const struct unwind_rule *rule)
{
	uint64_t words[2];

	_Static_assert(sizeof(words) == sizeof(*rule), "a rule is two words");
	memcpy(words, rule, sizeof(words));

	uint64_t mixed = (words[0] ^ (words[1] * UINT64_C(0x9e3779b97f4a7c15))) *
			 UINT64_C(0xff51afd7ed558ccd);

	return (uint32_t)(mixed >> 40) % UNWIND_RULE_SLOTS;
}

uint16_t unwind_rules_id(struct unwind_rules *rules, const struct unwind_rule *rule)
{
	uint32_t slot = slot_of(rule);

	if (rule->cfa == UNWIND_CFA_NONE)
		return UNWIND_RULE_NONE;
	if (rule->cfa == UNWIND_CFA_UNSUPPORTED)
		return UNWIND_RULE_UNSUPPORTED;
	for (; rules->slots[slot]; slot = (slot + 1) % UNWIND_RULE_SLOTS)
		if (memcmp(&rules->items[rules->slots[slot]], rule, sizeof(*rule)) == 0)
			return rules->slots[slot];
	if (rules->len == UNWIND_RULES_MAX) {
		rules->dropped++;
		return UNWIND_RULE_UNSUPPORTED;
	}
	rules->slots[slot] = rules->len;
	rules->items[rules->len] = *rule;
	return rules->len++;
}

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
