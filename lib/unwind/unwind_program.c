// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_value.h"
#include "elf/limits.h"
#include "unwind/unwind_program_internal.h"

#include <dwarf.h>

enum {
	CFA_ADVANCE_8 = 0x1d,        /* DW_CFA_MIPS_advance_loc8 */
	CFA_SIGNED_RETURN_PC = 0x2c, /* DW_CFA_AARCH64_negate_ra_state_with_pc */
	CFA_SIGNED_RETURN = 0x2d,    /* DW_CFA_AARCH64_negate_ra_state */
	CFA_ARGUMENTS_SIZE = 0x2e,   /* DW_CFA_GNU_args_size */
	CFA_OFFSET_NEGATIVE = 0x2f,  /* DW_CFA_GNU_negative_offset_extended */
};

struct program_run {
	const struct unwind_program *program;
	struct reader r;
	struct unwind_state state;
	size_t remembered_len;
	uint64_t location; /* from the rows' base */
	struct unwind_rows *rows;
	bool failed;
};

static struct unwind_rule rule_of(const struct program_run *run)
{
	if (run->program->cie->is_signal)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_SIGNAL };
	if (run->failed)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_UNSUPPORTED };
	return unwind_state_rule(&run->state, run->program->machine);
}

static void row_add(struct program_run *run)
{
	struct unwind_rule rule = rule_of(run);

	if (run->rows)
		unwind_rows_add(run->rows, (uint32_t)run->location, &rule);
}

/* The state holds up to this address: adds its row. False: not ahead in the function. */
static bool move_to(struct program_run *run, uint64_t location)
{
	if (!run->rows || location < run->location || location >= run->program->end)
		return false;
	if (location > run->location)
		row_add(run);
	run->location = location;
	return true;
}

static bool advance(struct program_run *run, uint64_t units)
{
	uint64_t bytes, location;

	if (__builtin_mul_overflow(units, run->program->cie->code_align, &bytes) ||
	    __builtin_add_overflow(run->location, bytes, &location))
		return false;
	return move_to(run, location);
}

static bool set_location(struct program_run *run)
{
	uint64_t address;

	if (!dwarf_pointer_read(&run->r, run->program->section, run->program->cie->encoding,
				&address)) {
		run->failed = true;
		return false;
	}
	return run->rows && move_to(run, address - run->rows->base);
}

/* The place of a tracked register; NULL: not tracked. */
static struct unwind_place *place_of(const struct program_run *run, struct unwind_state *state,
				     uint64_t number)
{
	const struct unwind_machine *machine = run->program->machine;

	if (number == machine->frame_pointer)
		return &state->frame_pointer;
	if (number == run->program->cie->return_register)
		return &state->return_address;
	return number == machine->stack_pointer ? &state->stack_pointer : NULL;
}

static void place_set(struct program_run *run, uint64_t number, struct unwind_place place)
{
	struct unwind_place *to = place_of(run, &run->state, number);

	if (to)
		*to = place;
}

static void restore(struct program_run *run, uint64_t number)
{
	const struct unwind_place *from = place_of(run, &run->program->cie->initial, number);

	if (from)
		place_set(run, number, *from);
}

static int64_t scaled(struct program_run *run, int64_t value)
{
	int64_t product;

	if (__builtin_mul_overflow(value, run->program->cie->data_align, &product))
		run->failed = true;
	return product;
}

static void place_at_cfa(struct program_run *run, uint64_t number, int64_t offset)
{
	place_set(run, number,
		  (struct unwind_place){ .kind = UNWIND_PLACE_AT_CFA,
					 .offset = scaled(run, offset) });
}

static void place_of_kind(struct program_run *run, uint64_t number, enum unwind_place_kind kind)
{
	place_set(run, number, (struct unwind_place){ .kind = kind });
}

static struct dwarf_term expression_next(struct program_run *run)
{
	return dwarf_expression_read(reader_bytes(&run->r, reader_varint(&run->r)));
}

/* DW_CFA_expression: saved at the address that an expression computes. */
static void place_by_expression(struct program_run *run, uint64_t number)
{
	struct dwarf_term term = expression_next(run);
	struct unwind_place place = { .kind = UNWIND_PLACE_UNKNOWN };

	if (term.kind == DWARF_TERM_REGISTER)
		place = (struct unwind_place){ UNWIND_PLACE_AT_TERM, term.register_number,
					       term.offset };
	place_set(run, number, place);
}

static void cfa_set_offset(struct program_run *run, int64_t offset)
{
	if (run->state.cfa.kind != DWARF_TERM_REGISTER)
		run->failed = true;
	run->state.cfa.offset = offset;
}

static void cfa_set(struct program_run *run, uint64_t number, int64_t offset)
{
	run->state.cfa = (struct dwarf_term){ DWARF_TERM_REGISTER, number, offset, 0 };
}

static void remember(struct program_run *run)
{
	if (run->remembered_len == UNWIND_REMEMBERED_MAX)
		run->failed = true;
	else
		run->program->remembered[run->remembered_len++] = run->state;
}

static void recall(struct program_run *run)
{
	if (run->remembered_len == 0)
		run->failed = true;
	else
		run->state = run->program->remembered[--run->remembered_len];
}

/* Instructions that define the CFA. False: another instruction. */
static bool cfa_step(struct program_run *run, uint8_t instruction)
{
	struct reader *r = &run->r;
	uint64_t number;

	switch (instruction) {
	case DW_CFA_def_cfa:
		number = reader_varint(r);
		cfa_set(run, number, (int64_t)reader_varint(r));
		return true;
	case DW_CFA_def_cfa_sf:
		number = reader_varint(r);
		cfa_set(run, number, scaled(run, dwarf_sleb(r)));
		return true;
	case DW_CFA_def_cfa_register:
		if (run->state.cfa.kind != DWARF_TERM_REGISTER)
			run->failed = true;
		run->state.cfa.register_number = reader_varint(r);
		return true;
	case DW_CFA_def_cfa_offset:
		cfa_set_offset(run, (int64_t)reader_varint(r));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		cfa_set_offset(run, scaled(run, dwarf_sleb(r)));
		return true;
	case DW_CFA_def_cfa_expression:
		run->state.cfa = expression_next(run);
		return true;
	}
	return false;
}

/* Instructions that define the place of a register. False: another instruction. */
static bool register_step(struct program_run *run, uint8_t instruction)
{
	struct reader *r = &run->r;
	uint64_t number;

	if (instruction < DW_CFA_offset_extended || instruction > CFA_OFFSET_NEGATIVE)
		return false;
	number = reader_varint(r);
	switch (instruction) {
	case DW_CFA_offset_extended:
		place_at_cfa(run, number, (int64_t)reader_varint(r));
		return true;
	case DW_CFA_offset_extended_sf:
		place_at_cfa(run, number, dwarf_sleb(r));
		return true;
	case CFA_OFFSET_NEGATIVE:
		place_at_cfa(run, number, -(int64_t)(reader_varint(r) & INT64_MAX));
		return true;
	case DW_CFA_restore_extended:
		restore(run, number);
		return true;
	case DW_CFA_undefined:
		place_of_kind(run, number, UNWIND_PLACE_UNDEFINED);
		return true;
	case DW_CFA_same_value:
		place_of_kind(run, number, UNWIND_PLACE_SAME);
		return true;
	case DW_CFA_register:
		place_set(run, number,
			  (struct unwind_place){ UNWIND_PLACE_REGISTER, reader_varint(r), 0 });
		return true;
	case DW_CFA_expression:
		place_by_expression(run, number);
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		reader_varint(r);
		place_of_kind(run, number, UNWIND_PLACE_UNKNOWN);
		return true;
	case DW_CFA_val_expression:
		expression_next(run);
		place_of_kind(run, number, UNWIND_PLACE_UNKNOWN);
		return true;
	}
	return instruction == CFA_ARGUMENTS_SIZE; /* its operand is not a register */
}

/* Instructions that advance the address. False: another instruction. */
static bool location_step(struct program_run *run, uint8_t instruction, bool *ret_goes_on)
{
	struct reader *r = &run->r;

	switch (instruction) {
	case DW_CFA_set_loc:
		*ret_goes_on = set_location(run);
		return true;
	case DW_CFA_advance_loc1:
		*ret_goes_on = advance(run, reader_u8(r));
		return true;
	case DW_CFA_advance_loc2:
		*ret_goes_on = advance(run, reader_u16(r));
		return true;
	case DW_CFA_advance_loc4:
		*ret_goes_on = advance(run, reader_u32(r));
		return true;
	case CFA_ADVANCE_8:
		*ret_goes_on = advance(run, reader_u64(r));
		return true;
	}
	return false;
}

/* Runs an instruction. False: stop, the rest is past the function or malformed. */
static bool step(struct program_run *run, uint8_t instruction)
{
	uint8_t low = instruction & 0x3f;
	bool goes_on = true;

	switch (instruction & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(run, low);
	case DW_CFA_offset:
		place_at_cfa(run, low, (int64_t)reader_varint(&run->r));
		return true;
	case DW_CFA_restore:
		restore(run, low);
		return true;
	}
	switch (instruction) {
	case DW_CFA_nop:
	case CFA_SIGNED_RETURN:
	case CFA_SIGNED_RETURN_PC:
		return true;
	case DW_CFA_remember_state:
		remember(run);
		return true;
	case DW_CFA_restore_state:
		recall(run);
		return true;
	}
	if (!location_step(run, instruction, &goes_on) && !cfa_step(run, instruction) &&
	    !register_step(run, instruction))
		run->failed = true;
	return goes_on;
}

/* Adds all rows except the last one, which the caller adds. */
static void steps_run(struct program_run *run)
{
	while (reader_left(&run->r) && !run->failed) {
		if (!step(run, reader_u8(&run->r)))
			break;
		run->failed |= run->r.failed;
	}
}

bool unwind_program_cie(const struct unwind_program *program)
{
	struct program_run run = { .program = program, .r = reader_of(program->instructions) };

	steps_run(&run);
	program->cie->initial = run.state;
	return !run.failed && reader_left(&run.r) == 0;
}

void unwind_program_run(const struct unwind_program *program, struct unwind_rows *rows)
{
	struct program_run run = {
		.program = program,
		.r = reader_of(program->instructions),
		.state = program->cie->initial,
		.location = program->start,
		.rows = rows,
		.failed = !program->cie->is_known,
	};

	steps_run(&run);
	row_add(&run);
}
