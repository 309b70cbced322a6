// SPDX-License-Identifier: Apache-2.0
#include "symbols/go_table.h"

#include "dwarf/dwarf_value.h"
#include "elf/limits.h"
#include "symbols/go_module_internal.h"

#include <elf.h>

enum { PC_INLINED = 2, DATA_INLINED = 3 }; /* indices in the runtime's lists of a function's data */
enum { HEADERS_MAX = 16 /* possible headers that are tried */ };

static str part(const struct go_table *table, uint64_t at)
{
	return str_skip(table->bytes, at);
}

static bool header_read(struct go_table *table)
{
	struct reader r = reader_of(table->bytes);

	table->magic = reader_u32(&r);
	reader_u16(&r);
	table->instruction_len = reader_u8(&r);
	table->pointer_size = reader_u8(&r);
	if (table->magic != GO_1_16 && table->magic != GO_1_18 && table->magic != GO_1_20)
		return false;
	if (table->pointer_size != 4 && table->pointer_size != 8)
		return false;
	table->function_count = dwarf_word(&r, table->pointer_size);
	dwarf_word(&r, table->pointer_size); /* files */
	if (table->magic != GO_1_16)
		table->text = dwarf_word(&r, table->pointer_size);
	table->names = part(table, dwarf_word(&r, table->pointer_size));
	table->units = part(table, dwarf_word(&r, table->pointer_size));
	table->files = part(table, dwarf_word(&r, table->pointer_size));
	table->values = part(table, dwarf_word(&r, table->pointer_size));
	table->functions = part(table, dwarf_word(&r, table->pointer_size));
	return !r.failed && table->instruction_len;
}

/* The bytes of the program from this address up to the end of their section. */
static bool bytes_at(int fd, const struct elf_sections *sections, uint64_t address,
		     struct arena *arena, str *ret_bytes, struct err *err)
{
	*ret_bytes = (str){ 0 };
	for (size_t i = 0; i < sections->len; i++) {
		const struct elf_section *section = &sections->items[i];

		if (!(section->flags & SHF_ALLOC) || !elf_section_has_bytes(section) ||
		    address < section->address || address - section->address >= section->size)
			continue;
		if (!elf_section_read(fd, section, GO_TABLE_MAX, arena, ret_bytes, err))
			return false;
		*ret_bytes = str_skip(*ret_bytes, address - section->address);
		return true;
	}
	return true;
}

static uint8_t entry_size(const struct go_table *table)
{
	return table->magic == GO_1_16 ? table->pointer_size : 4;
}

/* The pair with this index in the list: the address and the offset of the record. */
static bool pair_read(const struct go_table *table, uint64_t index, uint64_t *ret_address,
		      uint64_t *ret_record)
{
	uint8_t size = entry_size(table);
	uint64_t at;

	if (__builtin_mul_overflow(index, 2 * size, &at))
		return false;

	struct reader r = reader_of(str_skip(table->functions, at));

	*ret_address = table->text + dwarf_word(&r, size);
	if (r.failed)
		return false;
	*ret_record = dwarf_word(&r, size); /* the last pair has no record */
	return true;
}

/* The bases that the header lacks. Without moduledata the base of the header is valid, if it has
 * one: Go before 1.26 wrote it, but in a program that is position-independent it can be zero. */
static bool bases_find(struct go_table *table, int fd, const struct elf_sections *sections,
		       struct arena *arena, struct err *err)
{
	struct go_module_key key = {
		.table = table->address,
		.names = table->address + (uint64_t)(table->names.ptr - table->bytes.ptr),
		.pointer_size = table->pointer_size,
		.is_old = table->magic == GO_1_18,
	};
	struct go_module module;
	struct go_table offsets = *table;

	offsets.text = 0;
	if (table->magic == GO_1_16) /* its addresses are absolute */
		return true;
	if (!go_table_address(&offsets, 0, &key.first) ||
	    !go_table_address(&offsets, table->function_count, &key.end))
		return true;
	if (!go_module_find(&key, fd, sections, arena, &module, err))
		return false;
	if (!module.text)
		return true;
	table->text = module.text;
	if (module.data - table->address < table->bytes.len) { /* since Go 1.26 */
		table->inlined = str_skip(table->bytes, module.data - table->address);
		return true;
	}
	return bytes_at(fd, sections, module.data, arena, &table->inlined, err);
}

static bool is_usable(const struct go_table *table)
{
	return table->magic == GO_1_16 || table->text;
}

/* True if the bytes can be the first ones of a table. */
static bool is_header(str bytes)
{
	struct reader r = reader_of(bytes);
	uint32_t magic = reader_u32(&r);

	return (magic == GO_1_18 || magic == GO_1_20) && reader_u16(&r) == 0;
}

/*
 * Searches for the table in .data.rel.ro: of a position-independent program of Go before 1.26 that
 * another linker made, it is a part of that section.
 */
static bool table_search(struct go_table *ret_table, int fd, const struct elf_sections *sections,
			 struct arena *arena, struct err *err)
{
	const struct elf_section *section = elf_sections_find(sections, STR(".data.rel.ro"));
	str bytes;

	if (!elf_section_has_bytes(elf_sections_find(sections, STR(".go.buildinfo"))))
		return true;
	if (!elf_section_read(fd, section, GO_TABLE_MAX, arena, &bytes, err))
		return false;
	for (size_t at = 0, tried = 0; at < bytes.len && tried < HEADERS_MAX; at += 8) {
		struct go_table table = { .bytes = str_skip(bytes, at) };

		if (!is_header(table.bytes) || !header_read(&table))
			continue;
		tried++;
		table.address = section->address + at;
		table.text = 0;
		if (!bases_find(&table, fd, sections, arena, err))
			return false;
		if (is_usable(&table)) {
			*ret_table = table;
			return true;
		}
	}
	return true;
}

bool go_table_open(struct go_table *ret_table, int fd, const struct elf_sections *sections,
		   struct arena *arena, struct err *err)
{
	const struct elf_section *section = elf_sections_find(sections, STR(".gopclntab"));
	struct go_table table = { 0 }, none = { 0 };

	if (!elf_section_has_bytes(section))
		section = elf_sections_find(sections, STR(".data.rel.ro.gopclntab"));
	if (!section) {
		if (!table_search(&table, fd, sections, arena, err))
			return false;
		*ret_table = table;
		return true;
	}
	if (!elf_section_read(fd, section, GO_TABLE_MAX, arena, &table.bytes, err))
		return false;
	table.address = section->address;
	if (!header_read(&table))
		table = none;
	else if (!bases_find(&table, fd, sections, arena, err))
		return false;
	*ret_table = is_usable(&table) ? table : none;
	return true;
}

bool go_table_address(const struct go_table *table, uint64_t index, uint64_t *ret_address)
{
	uint64_t record;

	return pair_read(table, index, ret_address, &record);
}

bool go_table_function(const struct go_table *table, uint64_t index,
		       struct go_function *ret_function)
{
	struct go_function function = { 0 };
	uint64_t record;

	if (!pair_read(table, index, &function.address, &record))
		return false;

	struct reader r = reader_of(str_skip(table->functions, record));

	dwarf_word(&r, entry_size(table)); /* its address again */
	function.name = go_table_name(table, reader_u32(&r));
	reader_u64(&r); /* arguments, deferreturn */
	function.stack_values = reader_u32(&r);
	function.file_values = reader_u32(&r);
	function.line_values = reader_u32(&r);

	uint32_t value_count = reader_u32(&r);

	function.unit = reader_u32(&r);
	function.start_line = table->magic == GO_1_20 ? reader_u32(&r) : 0;
	reader_u8(&r); /* kind */
	function.flags = reader_u8(&r);
	reader_u8(&r);

	uint8_t data_count = reader_u8(&r);
	struct reader values = r;

	reader_bytes(&values, (size_t)PC_INLINED * 4);
	function.inlined_values = value_count > PC_INLINED ? reader_u32(&values) : 0;

	struct reader data = r;
	uint32_t tree = UINT32_MAX;

	reader_bytes(&data, (size_t)value_count * 4 + (size_t)DATA_INLINED * 4);
	if (data_count > DATA_INLINED)
		tree = reader_u32(&data);
	if (tree != UINT32_MAX && table->inlined.len && !data.failed)
		function.tree = str_skip(table->inlined, tree);
	*ret_function = function;
	return !r.failed && function.name.len;
}

/* Bytes of a call. Before Go 1.20 it had its parent, its file and its line, too. */
static size_t call_size(const struct go_table *table)
{
	return table->magic == GO_1_20 ? 16 : 20;
}

size_t go_table_call_count(const struct go_table *table, str tree)
{
	return tree.len / call_size(table);
}

bool go_table_call(const struct go_table *table, str tree, size_t index, struct go_call *ret_call)
{
	bool is_new = table->magic == GO_1_20;
	struct reader r = reader_of(str_skip(tree, index * call_size(table)));

	reader_bytes(&r, is_new ? 4 : 12);
	ret_call->name = go_table_name(table, reader_u32(&r));
	ret_call->pc = reader_u32(&r);
	ret_call->start_line = is_new ? reader_u32(&r) : 0;
	return !r.failed && ret_call->name.len;
}

/* Pairs: the difference of the value, the difference of the pc. The value starts at -1. */
void go_table_values(const struct go_table *table, uint32_t at, struct arena *arena,
		     go_values *values)
{
	struct reader r = reader_of(str_skip(table->values, at));
	uint64_t pc = 0;
	int64_t value = -1;

	values->len = 0;
	if (!at)
		return;
	while (values->len < GO_VALUES_MAX) {
		uint64_t difference = reader_varint(&r), step;

		if (r.failed || (difference == 0 && values->len))
			break;
		value += (int64_t)(uint32_t)(difference >> 1) ^ -(int64_t)(difference & 1);
		step = reader_varint(&r) * table->instruction_len;
		if (r.failed || step > UINT32_MAX)
			break;
		*vec_push(arena, values) = (struct go_value){ pc, pc + step, value };
		pc += step;
	}
}

static str text_at(str bytes, uint64_t at)
{
	struct reader r = reader_of(str_skip(bytes, at));

	return dwarf_text(&r);
}

str go_table_name(const struct go_table *table, uint32_t at)
{
	return text_at(table->names, at);
}

str go_table_file(const struct go_table *table, uint32_t unit, int64_t number)
{
	struct reader r;

	if (number < 0 || number > UINT32_MAX)
		return (str){ 0 };
	r = reader_of(str_skip(table->units, ((uint64_t)unit + (uint64_t)number) * 4));

	uint32_t at = reader_u32(&r);

	return r.failed || at == UINT32_MAX ? (str){ 0 } : text_at(table->files, at);
}
