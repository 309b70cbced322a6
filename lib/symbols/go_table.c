// SPDX-License-Identifier: Apache-2.0
#include "symbols/go_table.h"

#include "dwarf/dwarf_value.h"
#include "elf/limits.h"

#include <elf.h>

enum { PC_INLINED = 2, DATA_INLINED = 3 }; /* indices in the runtime's lists of a function's data */

/* Indices of words in the runtime's moduledata, which begins with a pointer to the table. */
enum { MODULE_TEXT = 22, MODULE_INLINED = 40, MODULE_WORDS = 41 };

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

/* True if these words are moduledata: the address of the table, then the address of the names. */
static bool is_module(const struct go_table *table, str bytes)
{
	struct reader r = reader_of(bytes);
	uint64_t header = reader_u64(&r), names = reader_u64(&r);

	return header == table->address &&
	       names - header == (uint64_t)(table->names.ptr - table->bytes.ptr);
}

static uint64_t module_word(str bytes, size_t index)
{
	struct reader r = reader_of(str_skip(bytes, index * 8));

	return reader_u64(&r);
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

/* Searches the program's data for moduledata, which has the addresses that the table lacks. */
static bool module_find(struct go_table *table, int fd, const struct elf_sections *sections,
			struct arena *arena, struct err *err)
{
	static const str places[] = { STR(".go.module"), STR(".noptrdata"), STR(".data"),
				      STR(".data.rel.ro") };

	for (size_t i = 0; table->pointer_size == 8 && i < ARRAY_LEN(places); i++) {
		str bytes;

		if (!elf_section_read(fd, elf_sections_find(sections, places[i]), GO_TABLE_MAX,
				      arena, &bytes, err))
			return false;
		for (; bytes.len >= MODULE_WORDS * 8; bytes = str_skip(bytes, 8)) {
			if (!is_module(table, bytes))
				continue;
			table->text = module_word(bytes, MODULE_TEXT);
			if (table->magic != GO_1_20)
				return true;
			return bytes_at(fd, sections, module_word(bytes, MODULE_INLINED), arena,
					&table->inlined, err);
		}
	}
	return true;
}

bool go_table_open(struct go_table *ret_table, int fd, const struct elf_sections *sections,
		   struct arena *arena, struct err *err)
{
	const struct elf_section *section = elf_sections_find(sections, STR(".gopclntab"));
	const struct elf_section *code = elf_sections_find(sections, STR(".text"));
	struct go_table table = { 0 };

	if (!elf_section_has_bytes(section))
		section = elf_sections_find(sections, STR(".data.rel.ro.gopclntab"));
	if (!elf_section_read(fd, section, GO_TABLE_MAX, arena, &table.bytes, err))
		return false;
	if (section)
		table.address = section->address;
	if (!header_read(&table)) {
		*ret_table = (struct go_table){ 0 };
		return true;
	}
	if (!module_find(&table, fd, sections, arena, err))
		return false;
	if (!table.text && code && table.magic != GO_1_16)
		table.text = code->address;
	*ret_table = table;
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
