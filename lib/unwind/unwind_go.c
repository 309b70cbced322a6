// SPDX-License-Identifier: Apache-2.0
#include "symbols/go_table.h"
#include "unwind/unwind_fixed_internal.h"
#include "unwind/unwind_go_internal.h"

enum {
	PUSH_RBP = 0x55,
	WORD = 8,
};

/* The kind of a function. Functions of the runtime are known by name if their flags lack it. */
enum go_kind { PLAIN, ROOT, MOVES_STACK, SIGNAL_RETURN };

struct go_scan {
	struct unwind_go go;
	struct go_table table;
	struct arena *arena;
	go_values values;
	uint64_t steps, steps_max; /* values that were read: functions may share lists */
};

/* The state of a function while its rows are added. */
struct go_frame {
	enum go_kind kind;
	bool moves;     /* the function moves the stack pointer */
	bool has_moved; /* so far */
	bool saves_pointer;
	int64_t depth; /* of the stack pointer below the return address (arm64: below the frame) */
};

static str name_without_abi(str name)
{
	static const str endings[] = { STR(".abi0"), STR(".abiinternal") };

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (str_ends_with(name, endings[i]))
			name.len -= endings[i].len;
	return name;
}

static enum go_kind kind_of(const struct go_function *function)
{
	static const struct {
		str name;
		enum go_kind kind;
	} known[] = {
		{ STR("runtime.goexit"), ROOT },
		{ STR("runtime.mstart"), ROOT },
		{ STR("runtime.rt0_go"), ROOT },
		{ STR("runtime.mcall"), ROOT },
		{ STR("runtime.gogo"), ROOT },
		{ STR("runtime.morestack"), ROOT },
		{ STR("runtime.systemstack"), MOVES_STACK },
		{ STR("runtime.asmcgocall"), MOVES_STACK },
		{ STR("runtime.sigreturn"), SIGNAL_RETURN },
		{ STR("runtime.sigreturn__sigaction"), SIGNAL_RETURN },
		{ STR("runtime.sigtramp"), PLAIN }, /* it returns to sigreturn */
		{ STR("runtime.cgoSigtramp"), PLAIN },
	};
	str name = name_without_abi(function->name);

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(name, known[i].name))
			return known[i].kind;
	if (function->flags & GO_FUNCTION_TOP)
		return ROOT;
	return function->flags & GO_FUNCTION_MOVES_STACK ? MOVES_STACK : PLAIN;
}

/*
 * True if the code saves the frame pointer below the return address. The address is where the stack
 * pointer has just moved for the first time, to this depth: after "push %rbp", or before Go 1.21,
 * at "mov %rbp, N(%rsp)".
 */
static bool saves_pointer(struct go_scan *scan, uint64_t address, int64_t depth)
{
	static const struct {
		str opcode;
		uint8_t operand_bytes;
	} moves[] = { { STR("\x48\x89\x6c\x24"), 1 }, { STR("\x48\x89\xac\x24"), 4 } };
	enum { MOVE_BYTES = 8 };
	str code = elf_code_at(scan->go.code, address - 1, 1 + MOVE_BYTES);

	if (!code.len)
		return false;
	if (depth == WORD && (uint8_t)code.ptr[0] == PUSH_RBP)
		return true;
	code = str_skip(code, 1);
	for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
		struct reader r = reader_of(str_skip(code, moves[i].opcode.len));

		if (!str_starts_with(code, moves[i].opcode))
			continue;
		return depth - WORD == (moves[i].operand_bytes == 1 ? (int8_t)reader_u8(&r)
								    : (int32_t)reader_u32(&r));
	}
	return false;
}

static struct unwind_rule rule_x86_64(const struct go_frame *frame)
{
	struct unwind_rule rule = {
		.cfa = UNWIND_CFA_REGISTER,
		.cfa_register = 7,
		.cfa_offset = (int32_t)frame->depth + WORD,
		.return_address = UNWIND_SAVED_AT_CFA,
		.return_address_offset = -WORD,
	};

	if (frame->saves_pointer && frame->depth >= WORD) {
		rule.frame_pointer = UNWIND_SAVED_AT_CFA;
		rule.frame_pointer_offset = -2 * WORD;
	}
	/* The function may run on either stack; the frame pointer leads to the previous one. */
	if (frame->kind == MOVES_STACK && rule.frame_pointer == UNWIND_SAVED_AT_CFA)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_FRAME_POINTER };
	return rule;
}

/* The link register is saved at the lower end of the frame, the frame pointer below it. */
static struct unwind_rule rule_arm64(const struct go_frame *frame)
{
	struct unwind_rule rule = {
		.cfa = UNWIND_CFA_REGISTER,
		.cfa_register = 31,
		.cfa_offset = (int32_t)frame->depth,
	};

	if (frame->depth == 0)
		return rule;
	if (frame->depth > INT16_MAX - WORD)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_FRAME_POINTER };
	rule.return_address = rule.frame_pointer = UNWIND_SAVED_AT_CFA;
	rule.return_address_offset = (int16_t)-frame->depth;
	rule.frame_pointer_offset = (int16_t)(-frame->depth - WORD);
	if (frame->kind == MOVES_STACK) {
		rule.cfa_register = 29;
		rule.cfa_offset += WORD;
	}
	return rule;
}

static struct unwind_rule rule_of(const struct go_scan *scan, const struct go_frame *frame)
{
	struct unwind_rule rule;

	if (frame->depth < 0 || frame->depth > INT32_MAX - 2 * WORD)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED };
	rule = scan->go.machine->has_link_register ? rule_arm64(frame) : rule_x86_64(frame);
	/* A function that leaves its stack without a frame has no caller that could be found. */
	if (frame->kind == ROOT || (frame->kind == MOVES_STACK && !frame->moves)) {
		rule.return_address = UNWIND_SAVED_UNDEFINED;
		rule.return_address_offset = 0;
	}
	return rule;
}

static void rows_add(void *self, const struct unwind_range *range, struct unwind_rows *rows)
{
	struct go_scan *scan = self;
	struct go_function function;
	struct unwind_rule rule = { .cfa = UNWIND_CFA_FRAME_POINTER };

	/* The same record was valid in functions_list(). */
	if (!go_table_function(&scan->table, range->at, &function))
		return unwind_rows_add(rows, range->start, &rule);

	struct go_frame frame = { .kind = kind_of(&function) };
	uint64_t start = function.address - rows->base;

	if (scan->steps < scan->steps_max)
		go_table_values(&scan->table, function.stack_values, scan->arena, &scan->values);
	else
		scan->values.len = 0;
	scan->steps += scan->values.len;
	for (size_t i = 0; i < scan->values.len; i++)
		frame.moves |= scan->values.items[i].value > 0;
	unwind_rows_add(rows, range->start, &rule);
	for (size_t i = 0; i < scan->values.len; i++) {
		const struct go_value *value = &scan->values.items[i];
		uint64_t at = start + value->start;

		if (at >= range->end)
			break;
		/* Only the first time: after a return in the middle the depth jumps at once. */
		if (!frame.has_moved && value->value > 0) {
			frame.has_moved = true;
			frame.saves_pointer = saves_pointer(scan, rows->base + at, value->value);
		}
		frame.depth = value->value;
		rule = rule_of(scan, &frame);
		unwind_rows_add(rows, at > range->start ? (uint32_t)at : range->start, &rule);
	}
}

static bool functions_list(struct go_scan *scan, struct unwind_ranges *ranges, struct err *err)
{
	for (uint64_t i = 0; i < scan->table.function_count && i < UINT32_MAX; i++) {
		struct go_function function;
		struct unwind_range range = { .at = (uint32_t)i, .source = UNWIND_SOURCE_GO };
		uint64_t end;

		if (!go_table_address(&scan->table, i + 1, &end))
			break;
		if (!go_table_function(&scan->table, i, &function) || end <= function.address)
			continue;
		/* See unwind_fixed.c: the walk looks up the byte before a return address. */
		if (kind_of(&function) == SIGNAL_RETURN && function.address)
			unwind_ranges_add(ranges, function.address - 1, end - function.address + 1,
					  unwind_fixed(UNWIND_SOURCE_SIGNAL, UNWIND_FIXED_SIGNAL));
		unwind_ranges_add(ranges, function.address, end - function.address, range);
		if (!unwind_ranges_fit(ranges, err))
			return false;
	}
	return true;
}

static bool is_go(const struct elf_sections *sections)
{
	static const str names[] = { STR(".gopclntab"), STR(".data.rel.ro.gopclntab"),
				     STR(".go.buildinfo"), STR(".note.go.buildid") };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (elf_section_has_bytes(elf_sections_find(sections, names[i])))
			return true;
	return false;
}

bool unwind_go_list(const struct unwind_go *go, struct unwind_ranges *ranges, bool *ret_is_go,
		    struct err *err)
{
	struct go_scan *scan;

	*ret_is_go = is_go(go->sections);
	if (!*ret_is_go)
		return true;
	scan = arena_new(ranges->arena, struct go_scan);
	scan->go = *go;
	scan->arena = ranges->arena;
	if (!go_table_open(&scan->table, go->code->fd, go->sections, ranges->arena, err))
		return false;
	scan->steps_max = UNWIND_GO_STEPS_MIN + scan->table.bytes.len;
	ranges->row_sources[UNWIND_SOURCE_GO] = (struct unwind_row_source){ rows_add, scan };
	return functions_list(scan, ranges, err);
}
