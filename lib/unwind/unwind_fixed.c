// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_fixed_internal.h"

struct fixed {
	struct unwind_rule rules[UNWIND_FIXED_COUNT];
};

static void rows_add(void *self, const struct unwind_range *range, struct unwind_rows *rows)
{
	const struct fixed *fixed = self;

	unwind_rows_add(rows, range->start, &fixed->rules[range->index]);
}

/* The rule after a call: the return address is on the stack, or in the link register. */
static struct unwind_rule entered(const struct unwind_machine *machine)
{
	struct unwind_rule rule = { .cfa = UNWIND_CFA_REGISTER,
				    .cfa_register = (uint8_t)machine->stack_pointer };

	if (machine->has_link_register)
		return rule;
	rule.cfa_offset = 8;
	rule.return_address = UNWIND_SAVED_AT_CFA;
	rule.return_address_offset = -8;
	return rule;
}

void unwind_fixed_init(struct unwind_ranges *ranges, const struct unwind_machine *machine)
{
	struct fixed *fixed = arena_new(ranges->arena, struct fixed);
	struct unwind_rule *rules = fixed->rules;

	rules[UNWIND_FIXED_SIGNAL].cfa = UNWIND_CFA_SIGNAL;
	rules[UNWIND_FIXED_FRAME_POINTER].cfa = UNWIND_CFA_FRAME_POINTER;
	rules[UNWIND_FIXED_ENTERED] = entered(machine);
	rules[UNWIND_FIXED_ROOT] = entered(machine);
	rules[UNWIND_FIXED_ROOT].return_address = UNWIND_SAVED_UNDEFINED;
	rules[UNWIND_FIXED_ROOT].return_address_offset = 0;
	rules[UNWIND_FIXED_PLT] = entered(machine);
	rules[UNWIND_FIXED_PLT_MARKED] = entered(machine);
	if (!machine->has_link_register) {
		rules[UNWIND_FIXED_PLT].cfa = rules[UNWIND_FIXED_PLT_MARKED].cfa = UNWIND_CFA_PLT;
		rules[UNWIND_FIXED_PLT].cfa_register = rules[UNWIND_FIXED_PLT_MARKED].cfa_register =
			0;
		rules[UNWIND_FIXED_PLT].cfa_offset = 11;
		rules[UNWIND_FIXED_PLT_MARKED].cfa_offset = 9;
	}
	ranges->row_sources[UNWIND_SOURCE_SIGNAL] = (struct unwind_row_source){ rows_add, fixed };
	ranges->row_sources[UNWIND_SOURCE_FIXED] = (struct unwind_row_source){ rows_add, fixed };
}

struct unwind_range unwind_fixed(enum unwind_range_source source, enum unwind_fixed_rule rule)
{
	return (struct unwind_range){ .source = source, .index = (uint32_t)rule };
}

enum {
	STUB_BYTES = 16,
	PLT_HEAD_ARM64 = 32, /* bytes before the first stub */
	ENTRY_BYTES = 32,    /* of the program's first instructions, up to its call of C code */
};

static void plt_list(const struct unwind_fixed_search *search, struct unwind_ranges *ranges)
{
	const struct elf_section *plt = elf_sections_find(search->sections, STR(".plt"));
	uint64_t head = search->machine->has_link_register ? PLT_HEAD_ARM64 : STUB_BYTES;
	enum unwind_fixed_rule rule = UNWIND_FIXED_PLT;

	if (!elf_section_has_bytes(plt) || plt->size < head + STUB_BYTES)
		return;
	if (str_eq(elf_code_at(search->code, plt->address + head, 4), STR("\xf3\x0f\x1e\xfa")))
		rule = UNWIND_FIXED_PLT_MARKED;
	unwind_ranges_add(ranges, plt->address + head, plt->size - head,
			  unwind_fixed(UNWIND_SOURCE_FIXED, rule));
}

/* Stubs that do not change the stack. */
static void plain_plt_list(const struct unwind_fixed_search *search, struct unwind_ranges *ranges)
{
	static const str names[] = { STR(".plt.sec"), STR(".plt.got"), STR(".iplt") };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct elf_section *plt = elf_sections_find(search->sections, names[i]);

		if (elf_section_has_bytes(plt))
			unwind_ranges_add(ranges, plt->address, plt->size,
					  unwind_fixed(UNWIND_SOURCE_FIXED, UNWIND_FIXED_ENTERED));
	}
}

/* A handler returns to its first byte, and the walk looks up the byte before a return address. */
static void signal_add(struct unwind_ranges *ranges, uint64_t address, size_t len)
{
	unwind_ranges_add(ranges, address - 1, len + 1,
			  unwind_fixed(UNWIND_SOURCE_SIGNAL, UNWIND_FIXED_SIGNAL));
}

/* rt_sigreturn() has no arguments, so every call of it has the same instructions. */
static void signals_search(const struct unwind_fixed_search *search, uint64_t start, uint64_t len,
			   struct unwind_ranges *ranges)
{
	static const str x86_64[] = { STR("\x48\xc7\xc0\x0f\0\0\0\x0f\x05"),
				      STR("\xb8\x0f\0\0\0\x0f\x05") };
	static const str arm64[] = { STR("\x68\x11\x80\xd2\x01\0\0\xd4"), { 0 } };
	const str *patterns = search->machine->has_link_register ? arm64 : x86_64;
	enum { STEP = 32 << 10, OVERLAP = 16 };

	for (uint64_t at = 0; at < len; at += STEP) {
		uint64_t left = len - at < STEP + OVERLAP ? len - at : STEP + OVERLAP;
		str piece = elf_code_at(search->code, start + at, (size_t)left);

		for (size_t i = 0; i < ARRAY_LEN(x86_64) && patterns[i].len; i++) {
			size_t found = str_find(piece, patterns[i]);

			if (found == SIZE_MAX)
				continue;
			signal_add(ranges, start + at + found, patterns[i].len);
		}
	}
}

void unwind_fixed_list(const struct unwind_fixed_search *search, struct unwind_ranges *ranges)
{
	const struct elf_file *elf = search->code->elf;

	plt_list(search, ranges);
	plain_plt_list(search, ranges);
	if (elf->entry)
		unwind_ranges_add(ranges, elf->entry, ENTRY_BYTES,
				  unwind_fixed(UNWIND_SOURCE_FIXED, UNWIND_FIXED_ROOT));
	for (size_t i = 0; search->wants_signal && i < elf->segment_count; i++)
		if (elf->segments[i].executable && elf->segments[i].size <= UNWIND_SEARCH_MAX)
			signals_search(search, elf->segments[i].address, elf->segments[i].size,
				       ranges);
}
