// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_symbols.h"
#include "symbols/x86_instruction.h"
#include "unwind/unwind_follow_internal.h"

enum { WORD = 8, UNSEEN = INT32_MIN, DEPTH_MAX = 1 << 24 };

/* The stack pointer and the frame pointer before an instruction. */
struct stack_state {
	int32_t depth;  /* bytes pushed since the call; UNSEEN: not reached yet */
	int32_t saved;  /* depth at which the frame pointer was pushed; 0: it was not */
	int32_t framed; /* depth that the frame pointer points to; 0: it is no frame pointer */
	bool is_lost;   /* the depth is unknown; only the frame pointer locates the frame */
};

struct followed_row {
	uint32_t at; /* from the function's first byte */
	struct stack_state state;
};

struct followed {
	size_t start, end;     /* in .text */
	uint32_t first, count; /* rows */
};

struct text_scan {
	struct arena *arena;
	str text;
	/* A bit for each byte. is_entry: it is called or referenced. is_part: another function
	 * jumps to it with its own frame, so it is a part of that function. */
	uint8_t *is_entry, *is_part;
	VEC(struct followed_row) rows;
	VEC(struct followed) functions;
	struct stack_state *states; /* at each instruction of a function and each jump target */
	size_t states_cap;
};

/* The analysis of a function, from its first byte to its last. */
struct path {
	struct text_scan *scan;
	str code;
	bool splits; /* assume that another function begins after a return, without a jump to it */
	struct stack_state now, body;
	bool falls_through, is_consistent;
};

static bool is_marked(const uint8_t *bits, size_t at)
{
	return bits[at / 8] & (1 << at % 8);
}

static void mark(const struct text_scan *scan, uint8_t *bits, uint64_t at)
{
	if (at < scan->text.len)
		bits[at / 8] |= (uint8_t)(1 << at % 8);
}

static bool is_call(const struct x86_instruction *it)
{
	return it->map == 0 && it->opcode == 0xe8;
}

/* lea N(%rip): the address of a function, if it is in the code. */
static bool is_address(const struct x86_instruction *it)
{
	return it->map == 0 && it->opcode == 0x8d && it->mode == 0 && it->rm % 8 == X86_RBP;
}

/* Marks the targets of calls and lea. An unknown instruction is skipped by one byte. */
static void entries_find(struct text_scan *scan)
{
	for (size_t at = 0; at < scan->text.len;) {
		struct x86_instruction it = x86_instruction_read(str_skip(scan->text, at));

		if (is_call(&it))
			mark(scan, scan->is_entry, at + it.len + (uint64_t)(int64_t)it.immediate);
		if (is_address(&it))
			mark(scan, scan->is_entry,
			     at + it.len + (uint64_t)(int64_t)it.displacement);
		at += it.len ? it.len : 1;
	}
}

static bool state_eq(const struct stack_state *a, const struct stack_state *b)
{
	return a->depth == b->depth && a->saved == b->saved && a->framed == b->framed &&
	       a->is_lost == b->is_lost;
}

/*
 * Merges the state at a jump target. A target outside of the function that is reached with a frame
 * is a part of this function.
 */
static void jump_to(struct path *path, size_t from, int64_t distance)
{
	int64_t to = (int64_t)from + distance;
	struct stack_state *known;

	if (to < 0 || to >= (int64_t)path->code.len) {
		if (path->now.depth || path->now.is_lost)
			mark(path->scan, path->scan->is_part,
			     (uint64_t)(path->code.ptr - path->scan->text.ptr + to));
		return;
	}
	known = &path->scan->states[to];
	if (known->depth == UNSEEN && to >= (int64_t)from)
		*known = path->now;
	else
		path->is_consistent &= state_eq(known, &path->now);
}

static bool is_register(const struct x86_instruction *it, uint8_t number)
{
	return it->has_modrm && it->mode == X86_REGISTER && it->rm == number;
}

/* A depth of -WORD is allowed: some code pops the return address. */
static void stack_set(struct path *path, int64_t depth)
{
	path->is_consistent &= depth >= -WORD && depth <= DEPTH_MAX;
	path->now.depth = path->is_consistent ? (int32_t)depth : 0;
	path->now.is_lost = false;
}

static void stack_move(struct path *path, int64_t bytes)
{
	if (!path->now.is_lost)
		stack_set(path, path->now.depth + bytes);
}

/* From here on only the frame pointer locates the frame. */
static void stack_lose(struct path *path)
{
	path->now.is_lost = true;
	path->is_consistent &= path->now.framed != 0;
}

static void frame_pointer_pop(struct path *path)
{
	path->now.saved = path->now.framed = 0;
}

/* push, pop and leave. False: another instruction. */
static bool push_or_pop(struct path *path, const struct x86_instruction *it)
{
	uint8_t opcode = it->opcode;

	if (it->map || it->is_vector)
		return false;
	if ((opcode & 0xf8) == 0x50 || opcode == 0x68 || opcode == 0x6a || opcode == 0x9c) {
		stack_move(path, WORD);
		if (opcode == 0x50 + X86_RBP && it->len == 1 && !path->now.saved)
			path->now.saved = path->now.depth;
		return true;
	}
	if ((opcode & 0xf8) == 0x58 || opcode == 0x9d) {
		if (opcode == 0x58 + X86_RBP && it->len == 1)
			frame_pointer_pop(path);
		path->is_consistent &= opcode != 0x58 + X86_RSP || it->len > 1;
		stack_move(path, -WORD);
		return true;
	}
	if (opcode == 0xc9) { /* leave */
		stack_set(path, path->now.framed - WORD);
		path->is_consistent &= path->now.framed != 0;
		frame_pointer_pop(path);
		return true;
	}
	return false;
}

/* add, or, ... of a constant to the stack pointer. */
static void constant_to_stack(struct path *path, const struct x86_instruction *it)
{
	enum { ADD = 0, AND = 4, SUB = 5, CMP = 7 };

	if (it->reg == SUB)
		stack_move(path, it->immediate);
	else if (it->reg == ADD)
		stack_move(path, -(int64_t)it->immediate);
	else if (it->reg == AND)
		stack_lose(path);
	else
		path->is_consistent &= it->reg == CMP;
}

/* mov and lea from or to the stack pointer or the frame pointer. */
static void move(struct path *path, uint8_t from, uint8_t to, int32_t displacement)
{
	if (to == X86_RSP && from == X86_RBP && path->now.framed)
		stack_set(path, path->now.framed - (int64_t)displacement);
	else if (to == X86_RSP && from == X86_RSP)
		stack_move(path, -(int64_t)displacement);
	else if (to == X86_RSP)
		stack_lose(path);
	else if (to == X86_RBP)
		path->now.framed = from == X86_RSP && displacement == 0 && path->now.saved &&
						   !path->now.is_lost
					   ? path->now.depth
					   : 0;
}

/* mov and lea. False: another instruction. */
static bool is_moved(struct path *path, const struct x86_instruction *it)
{
	bool is_register_form = it->mode == X86_REGISTER;

	if (it->opcode == 0x89 && is_register_form)
		move(path, it->reg, it->rm, 0);
	else if (it->opcode == 0x8b)
		move(path, is_register_form ? it->rm : X86_NO_BASE, it->reg, 0);
	else if (it->opcode == 0x8d)
		move(path, it->base, it->reg, it->displacement);
	else
		return false;
	return true;
}

/* Arithmetic of registers with the stack pointer as its result; cmp has no result. */
static bool is_computed(const struct x86_instruction *it)
{
	if (it->opcode >= 0x38)
		return false;
	return it->opcode & 2 ? it->reg == X86_RSP : is_register(it, X86_RSP);
}

/* Other instructions that write to the stack pointer. */
static void others(struct path *path, const struct x86_instruction *it)
{
	uint8_t opcode = it->opcode;

	if (it->map || it->is_vector || !it->has_modrm || is_moved(path, it))
		return;
	if ((opcode == 0x83 || opcode == 0x81) && is_register(it, X86_RSP))
		constant_to_stack(path, it);
	else if (opcode == 0xff && it->reg == 6)
		stack_move(path, WORD);
	else if (opcode == 0x8f)
		stack_move(path, -WORD);
	else if (is_computed(it))
		stack_lose(path);
	else if (opcode == 0x87)
		path->is_consistent &= it->reg != X86_RSP && !is_register(it, X86_RSP);
}

static bool is_return(const struct x86_instruction *it)
{
	return it->map == 0 && (it->opcode == 0xc3 || it->opcode == 0xc2);
}

static bool is_jump(const struct x86_instruction *it)
{
	return it->map == 0 && (it->opcode == 0xe9 || it->opcode == 0xeb);
}

static bool is_conditional(const struct x86_instruction *it)
{
	if (it->map == 1)
		return (it->opcode & 0xf0) == 0x80;
	return it->map == 0 &&
	       ((it->opcode & 0xf0) == 0x70 || (it->opcode >= 0xe0 && it->opcode <= 0xe3));
}

/* No known successor: ud2, hlt, int3, or an indirect jump. */
static bool is_end(const struct x86_instruction *it)
{
	if (it->map == 1)
		return it->opcode == 0x0b;
	return it->map == 0 && (it->opcode == 0xf4 || it->opcode == 0xcc ||
				(it->opcode == 0xff && (it->reg & 7) == 4));
}

/* Jumps and returns. False: another instruction. */
static bool jump(struct path *path, const struct x86_instruction *it, size_t after)
{
	if (it->is_vector)
		return false;
	if (is_conditional(it)) {
		jump_to(path, after, it->immediate);
		return true;
	}
	path->falls_through = !is_jump(it) && !is_return(it) && !is_end(it);
	if (is_jump(it))
		jump_to(path, after, it->immediate);
	if (is_return(it))
		path->is_consistent &= path->now.depth == 0 && !path->now.is_lost;
	return !path->falls_through;
}

static bool is_padding(const struct x86_instruction *it)
{
	return (it->map == 0 && (it->opcode == 0x90 || it->opcode == 0xcc)) ||
	       (it->map == 1 && it->opcode == 0x1f);
}

/* True in an epilogue: code after the return has the state from before the epilogue. */
static bool is_epilogue(const struct x86_instruction *it)
{
	if (it->map)
		return false;
	return (it->opcode & 0xf8) == 0x58 || it->opcode == 0xc9 || it->opcode == 0xc3 ||
	       ((it->opcode == 0x83 || it->opcode == 0x81) && is_register(it, X86_RSP) &&
		it->reg == 0);
}

/* The state at an instruction: from the previous one, from a jump to it, or a guess. */
static void arrive(struct path *path, size_t at)
{
	struct stack_state *known = &path->scan->states[at];

	if (path->falls_through)
		path->is_consistent &= known->depth == UNSEEN || state_eq(known, &path->now);
	else if (known->depth != UNSEEN)
		path->now = *known;
	else
		path->now = path->splits ? (struct stack_state){ 0 } : path->body;
	path->falls_through = true;
	*known = path->now;
}

static void row_add(struct path *path, size_t first, size_t at)
{
	struct text_scan *scan = path->scan;

	if (scan->rows.len > first &&
	    state_eq(&scan->rows.items[scan->rows.len - 1].state, &path->now))
		return;
	*vec_push(scan->arena, &scan->rows) = (struct followed_row){ (uint32_t)at, path->now };
}

/* Analyses a function with one assumption (splits). False: it is inconsistent. */
static bool function_walk(struct text_scan *scan, str code, bool splits)
{
	struct path path = { .scan = scan,
			     .code = code,
			     .splits = splits,
			     .falls_through = true,
			     .is_consistent = true };
	size_t first = scan->rows.len;

	for (size_t i = 0; i < code.len; i++)
		scan->states[i].depth = UNSEEN;
	for (size_t at = 0; at < code.len && path.is_consistent;) {
		struct x86_instruction it = x86_instruction_read(str_skip(code, at));

		if (it.len == 0) {
			path.is_consistent = false;
			break;
		}
		if (!path.falls_through && is_padding(&it) && scan->states[at].depth == UNSEEN) {
			at += it.len;
			continue;
		}
		arrive(&path, at);
		row_add(&path, first, at);
		if (!is_epilogue(&it))
			path.body = path.now;
		if (!jump(&path, &it, at + it.len) && !push_or_pop(&path, &it))
			others(&path, &it);
		at += it.len;
	}
	if (!path.is_consistent)
		scan->rows.len = first;
	return path.is_consistent;
}

/* Adds the rows of a function if the analysis is consistent. */
static void function_follow(struct text_scan *scan, size_t start, size_t end)
{
	str code = { scan->text.ptr + start, end - start };
	size_t first = scan->rows.len;

	if (code.len > UNWIND_FOLLOW_MAX)
		return;
	if (code.len > scan->states_cap) {
		scan->states_cap = code.len * 2;
		scan->states = arena_array(scan->arena, struct stack_state, scan->states_cap);
	}
	if (function_walk(scan, code, false) || function_walk(scan, code, true))
		*vec_push(scan->arena, &scan->functions) = (struct followed){
			.start = start,
			.end = end,
			.first = (uint32_t)first,
			.count = (uint32_t)(scan->rows.len - first),
		};
}

static bool has_part(const struct text_scan *scan, const struct followed *function)
{
	for (size_t at = function->start; at < function->end; at++)
		if (is_marked(scan->is_part, at))
			return true;
	return false;
}

static struct unwind_rule rule_of(const struct stack_state *state)
{
	struct unwind_rule rule = {
		.cfa = UNWIND_CFA_REGISTER,
		.cfa_register = 7,
		.cfa_offset = state->depth + WORD,
		.return_address = UNWIND_SAVED_AT_CFA,
		.return_address_offset = -WORD,
	};

	if (state->depth < 0) /* the code has popped the return address */
		return (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
	if (state->is_lost) {
		rule.cfa_register = 6;
		rule.cfa_offset = state->framed + WORD;
	}
	if (state->saved && state->saved <= INT16_MAX - WORD) {
		rule.frame_pointer = UNWIND_SAVED_AT_CFA;
		rule.frame_pointer_offset = (int16_t)(-state->saved - WORD);
	}
	return rule;
}

static void rows_add(void *self, const struct unwind_range *range, struct unwind_rows *rows)
{
	const struct text_scan *scan = self;

	for (uint32_t i = 0; i < range->len; i++) {
		const struct followed_row *row = &scan->rows.items[range->at + i];
		struct unwind_rule rule = rule_of(&row->state);

		if (row->at >= range->end - range->start)
			break;
		unwind_rows_add(rows, range->start + row->at, &rule);
	}
}

static bool entries_list(const struct unwind_follow *follow, struct text_scan *scan,
			 uint64_t address, struct err *err)
{
	elf_symbols symbols;

	if (!elf_symbols_read(follow->fd, follow->sections, scan->arena, &symbols, err))
		return false;
	scan->is_entry = arena_array(scan->arena, uint8_t, scan->text.len / 8 + 1);
	scan->is_part = arena_array(scan->arena, uint8_t, scan->text.len / 8 + 1);
	for (size_t i = 0; i < symbols.len; i++)
		mark(scan, scan->is_entry, symbols.items[i].start - address);
	entries_find(scan);
	return true;
}

bool unwind_follow_list(const struct unwind_follow *follow, struct unwind_ranges *ranges,
			struct err *err)
{
	const struct elf_section *section = elf_sections_find(follow->sections, STR(".text"));
	struct text_scan *scan = arena_new(ranges->arena, struct text_scan);

	scan->arena = ranges->arena;
	if (!elf_section_has_bytes(section) || section->size > UNWIND_SEARCH_MAX)
		return true;
	if (!elf_section_read(follow->fd, section, UNWIND_SEARCH_MAX, scan->arena, &scan->text,
			      err) ||
	    !entries_list(follow, scan, section->address, err))
		return false;
	ranges->row_sources[UNWIND_SOURCE_FOLLOWED] = (struct unwind_row_source){ rows_add, scan };
	for (size_t start = 0, end; start < scan->text.len; start = end) {
		for (end = start + 1; end < scan->text.len && !is_marked(scan->is_entry, end);
		     end++)
			;
		function_follow(scan, start, end);
		if (!unwind_ranges_fit(ranges, err))
			return false;
	}
	for (size_t i = 0; i < scan->functions.len; i++) {
		const struct followed *function = &scan->functions.items[i];

		if (!has_part(scan, function))
			unwind_ranges_add(ranges, section->address + function->start,
					  function->end - function->start,
					  (struct unwind_range){
						  .at = function->first,
						  .len = function->count,
						  .source = UNWIND_SOURCE_FOLLOWED,
					  });
	}
	return unwind_ranges_fit(ranges, err);
}
