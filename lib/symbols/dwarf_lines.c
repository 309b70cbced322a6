// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_value.h"
#include "symbols/dwarf_lines_internal.h"

#include <dwarf.h>

enum { FORMATS_MAX = 255, STANDARD_MAX = 256 };

struct lines_header {
	struct dwarf_unit unit; /* a copy, with the sizes of this table */
	uint8_t instruction_len, line_range, opcode_base;
	int8_t line_base;
	uint8_t operands[STANDARD_MAX]; /* of standard opcodes */
	struct reader program;
};

/* The registers of the line number state machine. */
struct machine {
	uint64_t address, file, line;
	uint64_t last_number; /* the last file that was looked up, */
	uint32_t last_file;   /* and its id of the writer */
	size_t first;         /* of the sequence */
	bool is_begun;
};

static bool is_full(const struct symbol_model *model)
{
	return model->arena->size > model->memory_max;
}

static bool is_absolute(str path)
{
	return path.len && path.ptr[0] == '/';
}

static str path_join(str directory, str name, struct arena *arena)
{
	if (is_absolute(name) || !directory.len)
		return name;
	return str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(directory),
			  str_ends_with(directory, STR("/")) ? "" : "/", STR_ARG(name));
}

/*
 * The directory with this number. In version 5 the directory of the unit is number 0. Before, it
 * was not in the list, and the numbers started at 1. Relative paths are relative to the unit's
 * directory.
 */
static str directory_of(const struct dwarf_lines *lines, uint64_t number, struct arena *arena)
{
	uint64_t index = lines->version < 5 ? number - 1 : number;

	if (index >= lines->directories.len)
		return lines->unit_directory;
	return path_join(lines->unit_directory, lines->directories.items[index], arena);
}

uint32_t dwarf_lines_file(struct dwarf_lines *lines, uint64_t number, struct symbol_model *model)
{
	/* Before version 5 the numbers of files started at 1. */
	uint64_t index = lines->version < 5 ? number - 1 : number;

	if (index >= lines->files.len)
		return 0;

	struct dwarf_line_file *file = &lines->files.items[index];

	if (file->id == SYMBOL_NOWHERE) {
		str directory = directory_of(lines, file->directory, model->arena);

		file->id = symbol_writer_file(&model->writer,
					      path_join(directory, file->name, model->arena));
	}
	return file->id;
}

static void files_read_old(struct reader *r, struct dwarf_lines *lines, struct symbol_model *model)
{
	struct arena *arena = model->arena;

	for (;;) {
		str directory = dwarf_text(r);

		if (r->failed || !directory.len || is_full(model))
			break;
		*vec_push(arena, &lines->directories) = directory;
	}
	for (;;) {
		struct dwarf_line_file file = { .name = dwarf_text(r), .id = SYMBOL_NOWHERE };

		if (r->failed || !file.name.len || is_full(model))
			break;
		file.directory = reader_varint(r);
		reader_varint(r); /* time */
		reader_varint(r); /* length */
		*vec_push(arena, &lines->files) = file;
	}
}

/* A field of the entries of a list in version 5, and its form. */
struct format {
	uint64_t kind; /* DW_LNCT_* */
	struct dwarf_attribute form;
};

static struct dwarf_line_file list_entry_read(struct reader *r, const struct dwarf_unit *unit,
					      const struct format *formats, size_t count)
{
	struct dwarf_line_file file = { .id = SYMBOL_NOWHERE };

	for (size_t i = 0; i < count; i++) {
		struct dwarf_value value = dwarf_value_read(r, unit, &formats[i].form);

		if (formats[i].kind == DW_LNCT_path)
			file.name = dwarf_value_str(unit, value);
		else if (formats[i].kind == DW_LNCT_directory_index)
			file.directory = value.number;
	}
	return file;
}

/* A list of directories or files. Its header has the fields of each entry. */
static void list_read(struct reader *r, const struct lines_header *header,
		      struct dwarf_lines *lines, bool is_files, struct symbol_model *model)
{
	struct format formats[FORMATS_MAX] = { 0 };
	uint8_t format_count = reader_u8(r);

	for (size_t i = 0; i < format_count; i++) {
		formats[i].kind = reader_varint(r);

		uint64_t form = reader_varint(r);

		formats[i].form.form = form <= UINT16_MAX ? (uint16_t)form : 0;
	}

	uint64_t count = reader_varint(r);

	for (uint64_t i = 0; i < count; i++) {
		size_t left = reader_left(r);
		struct dwarf_line_file file =
			list_entry_read(r, &header->unit, formats, format_count);

		if (r->failed || left == reader_left(r) || is_full(model))
			break; /* entries without bytes: the count is untrusted */
		if (is_files)
			*vec_push(model->arena, &lines->files) = file;
		else
			*vec_push(model->arena, &lines->directories) = file.name;
	}
}

static bool header_read(const struct dwarf_unit *unit, struct lines_header *header,
			struct dwarf_lines *lines, struct symbol_model *model)
{
	struct reader r = reader_of(str_skip(unit->file->sections[DWARF_LINE], unit->lines_at));
	uint64_t len = reader_u32(&r);

	header->unit = *unit;
	header->unit.offset_size = 4;
	if (len == UINT32_MAX) {
		len = reader_u64(&r);
		header->unit.offset_size = 8;
	}
	r = reader_of(reader_bytes(&r, len));
	lines->version = reader_u16(&r);
	if (lines->version < 2 || lines->version > 5)
		return false;
	if (lines->version >= 5) {
		header->unit.address_size = reader_u8(&r);
		reader_u8(&r); /* of segments */
	}
	header->unit.version = lines->version;

	uint64_t header_len = dwarf_word(&r, header->unit.offset_size);

	header->program = r;
	reader_bytes(&header->program, header_len);
	header->instruction_len = reader_u8(&r);
	if (lines->version >= 4)
		reader_u8(&r); /* operations per instruction, for VLIW machines */
	reader_u8(&r);         /* default_is_stmt */
	header->line_base = (int8_t)reader_u8(&r);
	header->line_range = reader_u8(&r);
	header->opcode_base = reader_u8(&r);
	for (size_t i = 1; i < header->opcode_base; i++)
		header->operands[i] = reader_u8(&r);
	if (r.failed || header->program.failed || header->line_range == 0)
		return false;
	if (lines->version >= 5) {
		list_read(&r, header, lines, false, model);
		list_read(&r, header, lines, true, model);
	} else {
		files_read_old(&r, lines, model);
	}
	return !r.failed;
}

/* The registers as a place, or as the end of the sequence. */
static struct symbol_place place_of(struct machine *machine, struct dwarf_lines *lines,
				    struct symbol_model *model, bool is_end)
{
	if (is_end)
		return (struct symbol_place){ machine->address, SYMBOL_NOWHERE, 0 };
	if (machine->file != machine->last_number)
		machine->last_file = dwarf_lines_file(lines, machine->file, model);
	machine->last_number = machine->file;
	return (struct symbol_place){ machine->address, machine->last_file,
				      machine->line <= UINT32_MAX ? (uint32_t)machine->line : 0 };
}

static void row_add(struct machine *machine, struct dwarf_lines *lines, struct symbol_model *model,
		    bool is_end)
{
	struct symbol_place place = place_of(machine, lines, model, is_end);

	if (!machine->is_begun) {
		machine->is_begun = true;
		machine->first = model->places.len;
		*vec_push(model->arena, &model->places) = place;
		return;
	}

	struct symbol_place *last = &model->places.items[model->places.len - 1];

	if (place.address < last->address) { /* malformed: addresses must ascend */
		if (!is_end)
			return;
		place.address = last->address;
	}
	if (place.address == last->address)
		*last = place; /* of several rows at one address the last one wins */
	else if (last->file != place.file || last->line != place.line)
		*vec_push(model->arena, &model->places) = place;
}

static void machine_begin(struct machine *machine)
{
	machine->address = 0;
	machine->file = machine->line = 1;
	machine->is_begun = false;
}

static void extended_run(struct reader *r, struct machine *machine, struct dwarf_lines *lines,
			 struct symbol_model *model)
{
	struct reader operands = reader_of(reader_bytes(r, reader_varint(r)));
	uint8_t opcode = reader_u8(&operands);

	if (r->failed)
		return;
	if (opcode == DW_LNE_end_sequence) {
		row_add(machine, lines, model, true);
		symbol_model_end_sequence(model, machine->first);
		machine_begin(machine);
	} else if (opcode == DW_LNE_set_address) {
		size_t size = reader_left(&operands);

		machine->address = size <= 8 ? dwarf_word(&operands, (uint8_t)size) : 0;
	} else if (opcode == DW_LNE_define_file) {
		struct dwarf_line_file file = { .name = dwarf_text(&operands),
						.id = SYMBOL_NOWHERE };

		file.directory = reader_varint(&operands);
		if (!operands.failed)
			*vec_push(model->arena, &lines->files) = file;
	}
}

static void standard_run(uint8_t opcode, const struct lines_header *header, struct reader *r,
			 struct machine *machine, struct dwarf_lines *lines,
			 struct symbol_model *model)
{
	switch (opcode) {
	case DW_LNS_copy:
		row_add(machine, lines, model, false);
		break;
	case DW_LNS_advance_pc:
		machine->address += reader_varint(r) * header->instruction_len;
		break;
	case DW_LNS_advance_line:
		machine->line += (uint64_t)dwarf_sleb(r);
		break;
	case DW_LNS_set_file:
		machine->file = reader_varint(r);
		break;
	case DW_LNS_const_add_pc:
		machine->address += (uint64_t)((255 - header->opcode_base) / header->line_range) *
				    header->instruction_len;
		break;
	case DW_LNS_fixed_advance_pc:
		machine->address += reader_u16(r);
		break;
	default: /* opcodes without effect here, and unknown ones */
		for (uint8_t i = 0; i < header->operands[opcode]; i++)
			reader_varint(r);
		break;
	}
}

/* False: the model exceeds its bounds. */
static bool program_run(const struct lines_header *header, struct dwarf_lines *lines,
			struct symbol_model *model)
{
	struct reader r = header->program;
	struct machine machine = { .last_number = UINT64_MAX };

	machine_begin(&machine);
	while (reader_left(&r)) {
		uint8_t opcode = reader_u8(&r);

		if (++model->steps > model->steps_max || is_full(model))
			return false;
		if (opcode == 0) {
			extended_run(&r, &machine, lines, model);
		} else if (opcode < header->opcode_base) {
			standard_run(opcode, header, &r, &machine, lines, model);
		} else {
			uint8_t step = (uint8_t)(opcode - header->opcode_base);

			machine.address +=
				(uint64_t)(step / header->line_range) * header->instruction_len;
			machine.line += (uint64_t)(header->line_base + step % header->line_range);
			row_add(&machine, lines, model, false);
		}
	}
	if (machine.is_begun) /* no end of the sequence: drop it */
		model->places.len = machine.first;
	return true;
}

struct dwarf_lines *dwarf_lines_read(const struct dwarf_unit *unit, struct symbol_model *model)
{
	struct dwarf_lines *lines = arena_new(model->arena, struct dwarf_lines);
	struct lines_header header = { 0 };

	lines->unit_directory = unit->directory;
	if (unit->lines_at >= unit->file->sections[DWARF_LINE].len ||
	    !header_read(unit, &header, lines, model) || !program_run(&header, lines, model))
		return NULL;
	return lines;
}
