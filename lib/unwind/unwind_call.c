// SPDX-License-Identifier: Apache-2.0
#include "elf/limits.h"
#include "unwind/unwind_call_internal.h"
#include "unwind/unwind_cfi_internal.h"

enum {
	CALL_BYTES = 5, /* opcode, distance */
	CALL_OPCODE = 0xe8,
	RBX = 3,
	R12 = 12,
	R15 = 15,
};

/* A direct call in a function that needs the register. */
struct call {
	uint32_t address; /* from the rows' base */
	uint16_t rule;    /* at the call */
	uint16_t rule_after;
};

struct call_search {
	const struct unwind_calls *calls;
	const struct unwind_ranges *ranges;
	struct unwind_rows *rows;
	struct arena scratch;
	VEC(struct call) found;
	size_t tried;
	uint64_t code_left; /* bytes that may still be searched */
};

/* True if the frame is found by a register that called functions preserve and the walk loses. */
static bool is_lost_in_callers(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_REGISTER &&
	       (rule->cfa_register == RBX ||
		(rule->cfa_register >= R12 && rule->cfa_register <= R15));
}

/* The rule at a call of `target`, an address from the rows' base. False: `target` is not the begin
 * of a function that saves the register. */
static bool rule_at_call(struct call_search *search, const struct unwind_rule *rule,
			 uint32_t target, struct unwind_rule *ret_rule)
{
	const struct unwind_range *callee = unwind_ranges_at(search->ranges, target);
	int16_t saved_at;

	if (!callee || (callee->source != UNWIND_SOURCE_EH_FRAME &&
			callee->source != UNWIND_SOURCE_DEBUG_FRAME))
		return false;
	if (search->tried++ >= UNWIND_CALLS_MAX)
		return false;

	bool is_saved = unwind_cfi_saved(search->ranges->row_sources[callee->source].self, callee,
					 rule->cfa_register, &search->scratch, &saved_at);

	arena_reset(&search->scratch);
	if (!is_saved)
		return false;
	*ret_rule = *rule;
	ret_rule->cfa = UNWIND_CFA_DEREF;
	ret_rule->cfa_register = (uint8_t)search->calls->machine->stack_pointer;
	ret_rule->cfa_offset = saved_at;
	ret_rule->cfa_second = rule->cfa_offset;
	return true;
}

/*
 * Finds the calls in the code that row `at` covers, up to `end`. Bytes in the middle of an
 * instruction can look like a call, but then their target is not the first byte of a function.
 */
static void row_search(struct call_search *search, size_t at, uint32_t end)
{
	const struct unwind_row row = search->rows->rows.items[at];
	const struct unwind_rule rule = search->rows->rules.items[row.rule];
	struct unwind_rule at_call;
	uint32_t len = end - row.address;

	if (!is_lost_in_callers(&rule) || len < CALL_BYTES || len > ELF_CODE_BYTES ||
	    len > search->code_left)
		return;
	search->code_left -= len;

	str code = elf_code_at(search->calls->code, search->rows->base + row.address, len);

	for (size_t i = 0; i + CALL_BYTES <= code.len; i++) {
		struct reader r = reader_of(str_skip(code, i));
		uint32_t address = row.address + (uint32_t)i;

		if (reader_u8(&r) != CALL_OPCODE)
			continue;
		if (!rule_at_call(search, &rule, address + CALL_BYTES + reader_u32(&r), &at_call))
			continue;
		*vec_push(search->ranges->arena, &search->found) = (struct call){
			address,
			unwind_rules_id(&search->rows->rules, &at_call),
			row.rule,
		};
		i += CALL_BYTES - 1;
	}
}

/* Where the row at this index ends. */
static uint32_t end_of(const struct unwind_rows *rows, size_t at)
{
	return at + 1 < rows->rows.len ? rows->rows.items[at + 1].address : rows->end;
}

/* Splits each row that contains calls. */
static void rows_split(struct call_search *search)
{
	struct unwind_rows *rows = search->rows;
	struct unwind_row *old = rows->rows.items;
	size_t len = rows->rows.len, next = 0;
	uint32_t end = rows->end;

	rows->rows.items =
		arena_array(search->ranges->arena, struct unwind_row, len + 2 * search->found.len);
	rows->rows.len = 0;
	rows->rows.cap = len + 2 * search->found.len;
	for (size_t i = 0; i < len; i++) {
		uint32_t row_end = i + 1 < len ? old[i + 1].address : end;

		rows->rows.items[rows->rows.len++] = old[i];
		for (; next < search->found.len && search->found.items[next].address < row_end;
		     next++) {
			struct call call = search->found.items[next];
			uint32_t after = call.address + CALL_BYTES;

			rows->rows.items[rows->rows.len++] =
				(struct unwind_row){ call.address + 1, call.rule };
			if (after < row_end)
				rows->rows.items[rows->rows.len++] =
					(struct unwind_row){ after, call.rule_after };
		}
	}
}

void unwind_calls_add(const struct unwind_calls *calls, const struct unwind_ranges *ranges,
		      struct unwind_rows *rows)
{
	struct call_search search = {
		.calls = calls, .ranges = ranges, .rows = rows, .code_left = UNWIND_CALL_CODE_MAX
	};

	if (calls->machine->has_link_register)
		return;
	for (size_t i = 0; i < rows->rows.len; i++)
		row_search(&search, i, end_of(rows, i));
	if (search.found.len)
		rows_split(&search);
	arena_free(&search.scratch);
}
