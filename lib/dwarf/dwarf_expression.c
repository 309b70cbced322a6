// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_expression.h"

#include "dwarf/dwarf_value.h"

#include <dwarf.h>

enum { DEPTH_MAX = 8 }; /* values on the expression's stack; supported expressions need three */

struct expression_stack {
	struct dwarf_term items[DEPTH_MAX];
	size_t len;
	bool failed;
};

static void push(struct expression_stack *stack, struct dwarf_term term)
{
	if (stack->len == DEPTH_MAX) {
		stack->failed = true;
		return;
	}
	stack->items[stack->len++] = term;
}

static void push_number(struct expression_stack *stack, int64_t number)
{
	push(stack, (struct dwarf_term){ .kind = DWARF_TERM_NUMBER, .offset = number });
}

static void push_register(struct expression_stack *stack, uint64_t number, int64_t offset)
{
	push(stack, (struct dwarf_term){ DWARF_TERM_REGISTER, number, offset, 0 });
}

static struct dwarf_term pop(struct expression_stack *stack)
{
	if (stack->len == 0) {
		stack->failed = true;
		return (struct dwarf_term){ 0 };
	}
	return stack->items[--stack->len];
}

/* Adds a number to the value on top. Overflow fails: numbers are small in unwind information. */
static void add(struct expression_stack *stack, int64_t number)
{
	struct dwarf_term term = pop(stack);
	int64_t *to = term.kind == DWARF_TERM_DEREF ? &term.second : &term.offset;

	if (__builtin_add_overflow(*to, number, to))
		stack->failed = true;
	push(stack, term);
}

/* Replaces the two values on top by their sum; one of them must be a number. */
static void add_both(struct expression_stack *stack)
{
	struct dwarf_term right = pop(stack), left = pop(stack);

	if (left.kind == DWARF_TERM_NUMBER) {
		push(stack, right);
		add(stack, left.offset);
	} else if (right.kind == DWARF_TERM_NUMBER) {
		push(stack, left);
		add(stack, right.offset);
	} else {
		stack->failed = true;
	}
}

static void subtract(struct expression_stack *stack)
{
	struct dwarf_term right = pop(stack);

	if (right.kind != DWARF_TERM_NUMBER || right.offset == INT64_MIN)
		stack->failed = true;
	else
		add(stack, -right.offset);
}

static void deref(struct expression_stack *stack)
{
	struct dwarf_term term = pop(stack);

	if (term.kind != DWARF_TERM_REGISTER)
		stack->failed = true;
	term.kind = DWARF_TERM_DEREF;
	push(stack, term);
}

/* The operand of DW_OP_const*. */
static int64_t constant_read(struct reader *r, uint8_t operation)
{
	switch (operation) {
	case DW_OP_const1u:
		return reader_u8(r);
	case DW_OP_const1s:
		return (int8_t)reader_u8(r);
	case DW_OP_const2u:
		return reader_u16(r);
	case DW_OP_const2s:
		return (int16_t)reader_u16(r);
	case DW_OP_const4u:
		return reader_u32(r);
	case DW_OP_const4s:
		return (int32_t)reader_u32(r);
	case DW_OP_constu:
		return (int64_t)reader_varint(r);
	case DW_OP_consts:
		return dwarf_sleb(r);
	}
	return (int64_t)reader_u64(r);
}

static void step(struct expression_stack *stack, struct reader *r, uint8_t operation)
{
	if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
		push_number(stack, operation - DW_OP_lit0);
	else if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
		push_register(stack, (uint64_t)operation - DW_OP_breg0, dwarf_sleb(r));
	else if (operation >= DW_OP_const1u && operation <= DW_OP_consts)
		push_number(stack, constant_read(r, operation));
	else if (operation == DW_OP_plus_uconst)
		add(stack, (int64_t)reader_varint(r));
	else if (operation == DW_OP_plus)
		add_both(stack);
	else if (operation == DW_OP_minus)
		subtract(stack);
	else if (operation == DW_OP_deref)
		deref(stack);
	else if (operation != DW_OP_nop)
		stack->failed = true;
}

/* The expression that linkers write for PLT stubs: the CFA before their push, or after it. */
static bool is_plt(str expression, int64_t *ret_threshold)
{
	static const uint8_t bytes[] = { DW_OP_breg7, 8,         DW_OP_breg16, 0,
					 DW_OP_lit15, DW_OP_and, DW_OP_lit0,   DW_OP_ge,
					 DW_OP_lit3,  DW_OP_shl, DW_OP_plus };
	enum { THRESHOLD = 6 }; /* index of that byte */

	if (expression.len != sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		if (i != THRESHOLD && (uint8_t)expression.ptr[i] != bytes[i])
			return false;
	*ret_threshold = (uint8_t)expression.ptr[THRESHOLD] - DW_OP_lit0;
	return *ret_threshold >= 0 && *ret_threshold < 16;
}

struct dwarf_term dwarf_expression_read(str expression)
{
	struct expression_stack stack = { 0 };
	struct reader r = reader_of(expression);
	int64_t threshold;

	if (is_plt(expression, &threshold))
		return (struct dwarf_term){ .kind = DWARF_TERM_PLT, .offset = threshold };
	while (reader_left(&r) && !stack.failed)
		step(&stack, &r, reader_u8(&r));

	struct dwarf_term top = pop(&stack);

	if (r.failed || stack.failed)
		return (struct dwarf_term){ 0 };
	return top;
}
