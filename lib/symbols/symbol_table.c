// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_table.h"

#include "base/hash.h"
#include "base/reader.h"
#include "base/sorted.h"
#include "symbols/symbol_format_internal.h"

#include <sys/mman.h>
#include <sys/stat.h>

/* A decoded row. */
struct row {
	uint64_t address;
	uint32_t node, file, line;
};

static int64_t bounded_sum(uint32_t value, int64_t step)
{
	int64_t sum;

	return __builtin_add_overflow((int64_t)value, step, &sum) ? -1 : sum;
}

/* Adds a difference from an untrusted file. False: the sum is out of range. */
static bool step_by(uint32_t *value, int64_t step)
{
	int64_t sum = bounded_sum(*value, step);

	if (sum < 0 || sum > UINT32_MAX)
		return false;
	*value = (uint32_t)sum;
	return true;
}

/* Decodes the next row. False: the bytes are corrupt. */
static bool row_next(struct reader *r, struct row *row)
{
	uint64_t head = reader_varint(r);

	if (__builtin_add_overflow(row->address, head >> 2, &row->address) ||
	    !step_by(&row->line, reader_zigzag(r)) ||
	    ((head & SYMBOL_ROW_NODE) && !step_by(&row->node, reader_zigzag(r))) ||
	    ((head & SYMBOL_ROW_FILE) && !step_by(&row->file, reader_zigzag(r))))
		return false;
	return !r->failed;
}

static str string_at(const struct symbol_table *table, uint32_t at)
{
	struct reader r = reader_of(str_skip(table->strings, at));

	return reader_str_prefixed(&r);
}

/* The linkage name of a function, or its plain name; *ret_name: the qualified name, may be empty.
 */
static str system_name_of(str text, str *ret_name)
{
	struct reader r = reader_of(str_skip(text, 1));

	*ret_name = (str){ 0 };
	if (!text.len || text.ptr[0])
		return text;

	str system_name = reader_str_prefixed(&r);

	*ret_name = r.rest;
	return system_name;
}

static struct reader block_rows(const struct symbol_table *table, const struct symbol_block *block)
{
	return reader_of(str_skip(table->rows, block->rows_at));
}

static bool corrupt(struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID, "the symbol table is corrupt: %s", what);
}

/* Every row refers to an existing node and file, and addresses ascend. */
static bool rows_check(const struct symbol_table *table, struct err *err)
{
	uint64_t count = 0, last = 0;

	for (size_t i = 0; i < table->block_count; i++) {
		const struct symbol_block *block = &table->blocks[i];
		struct reader r = block_rows(table, block);
		struct row row = { .address = block->address };

		if (block->row_count == 0 || block->row_count > SYMBOL_BLOCK_ROWS ||
		    (i && block->address <= last))
			return corrupt(err, "a block of rows");
		for (uint32_t k = 0; k < block->row_count; k++)
			if (!row_next(&r, &row) || row.node >= table->node_count ||
			    row.file >= table->file_count)
				return corrupt(err, "a row");
		last = row.address;
		count += block->row_count;
	}
	return count == table->row_count || corrupt(err, "the number of rows");
}

static bool string_is_there(const struct symbol_table *table, uint32_t at)
{
	struct reader r = reader_of(str_skip(table->strings, at));

	if (at >= table->strings.len)
		return false;
	reader_str_prefixed(&r);
	return !r.failed;
}

static bool references_check(const struct symbol_table *table, struct err *err)
{
	if (table->node_count == 0 || table->function_count == 0 || table->file_count == 0)
		return corrupt(err, "a part is empty");
	for (size_t i = 0; i < table->function_count; i++) {
		str name;

		if (!string_is_there(table, table->functions[i].name) ||
		    (i &&
		     system_name_of(string_at(table, table->functions[i].name), &name).len == 0))
			return corrupt(err, "a function's name");
	}
	for (size_t i = 0; i < table->file_count; i++)
		if (!string_is_there(table, table->files[i]))
			return corrupt(err, "a file's name");
	for (size_t i = 1; i < table->node_count; i++) {
		const struct symbol_node *node = &table->nodes[i];

		if (node->parent >= i || node->function == 0 ||
		    node->function >= table->function_count || node->call_file >= table->file_count)
			return corrupt(err, "a node");
	}
	return true;
}

/* Splits the image into its parts. */
static bool parts_find(struct symbol_table *table, struct err *err)
{
	struct reader r = reader_of((str){ table->image, table->file_len });
	str head = reader_bytes(&r, sizeof(struct symbol_header));
	const struct symbol_header *header = (const struct symbol_header *)(const void *)head.ptr;
	str parts[SYMBOL_PART_COUNT];

	if (r.failed || memcmp(header->magic, SYMBOL_MAGIC, sizeof(header->magic)) != 0)
		return err_set(err, ERR_INVALID, "not a symbol table");
	if (header->version != SYMBOL_VERSION)
		return err_set(err, ERR_INVALID, "a symbol table of version %u, not %d",
			       header->version, SYMBOL_VERSION);
	if (hash_64(str_skip(head, offsetof(struct symbol_header, row_count))) != header->checksum)
		return corrupt(err, "its header");
	for (enum symbol_part part = 0; part < SYMBOL_PART_COUNT; part++) {
		parts[part] = reader_bytes(&r, header->sizes[part]);
		reader_bytes(&r, -header->sizes[part] & 7);
		if (hash_64(parts[part]) != header->hashes[part])
			return corrupt(err, "a checksum");
	}
	if (r.failed || reader_left(&r) || parts[SYMBOL_BLOCKS].len % sizeof(struct symbol_block) ||
	    parts[SYMBOL_NODES].len % sizeof(struct symbol_node) ||
	    parts[SYMBOL_FUNCTIONS].len % sizeof(struct symbol_function) ||
	    parts[SYMBOL_FILES].len % sizeof(uint32_t))
		return corrupt(err, "its parts");
	table->row_count = header->row_count;
	table->split_units = header->split_units;
	table->blocks = (const struct symbol_block *)(const void *)parts[SYMBOL_BLOCKS].ptr;
	table->block_count = parts[SYMBOL_BLOCKS].len / sizeof(*table->blocks);
	table->nodes = (const struct symbol_node *)(const void *)parts[SYMBOL_NODES].ptr;
	table->node_count = parts[SYMBOL_NODES].len / sizeof(*table->nodes);
	table->functions =
		(const struct symbol_function *)(const void *)parts[SYMBOL_FUNCTIONS].ptr;
	table->function_count = parts[SYMBOL_FUNCTIONS].len / sizeof(*table->functions);
	table->files = (const uint32_t *)(const void *)parts[SYMBOL_FILES].ptr;
	table->file_count = parts[SYMBOL_FILES].len / sizeof(*table->files);
	table->rows = parts[SYMBOL_ROWS];
	table->strings = parts[SYMBOL_STRINGS];
	return true;
}

bool symbol_table_open(struct symbol_table *table, int fd, struct err *err)
{
	struct stat file;

	*table = (struct symbol_table){ 0 };
	if (fstat(fd, &file))
		return err_errno(err, "stat the symbol table");
	if (file.st_size < (off_t)sizeof(struct symbol_header))
		return err_set(err, ERR_INVALID, "not a symbol table");

	void *image = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (image == MAP_FAILED)
		return err_errno(err, "map the symbol table");
	table->image = image;
	table->file_len = (size_t)file.st_size;
	if (parts_find(table, err) && references_check(table, err) && rows_check(table, err))
		return true;
	symbol_table_close(table);
	return false;
}

void symbol_table_close(struct symbol_table *table)
{
	if (table->image)
		munmap((void *)(uintptr_t)table->image, table->file_len);
	*table = (struct symbol_table){ 0 };
}

/* The last block that begins at or before the address; NULL: none. */
static const struct symbol_block *block_find(const struct symbol_table *table, uint64_t address)
{
	size_t begun =
		sorted_before(table->blocks, table->block_count, each, each->address <= address);

	return begun ? &table->blocks[begun - 1] : NULL;
}

size_t symbol_table_find(const struct symbol_table *table, uint64_t address,
			 struct symbol_line *lines)
{
	const struct symbol_block *block = block_find(table, address);
	struct row row = { 0 }, next = { 0 };
	size_t count = 0;

	if (!block)
		return 0;
	next.address = block->address;

	struct reader r = block_rows(table, block);

	for (uint32_t i = 0; i < block->row_count && row_next(&r, &next); i++) {
		if (next.address > address)
			break;
		row = next;
	}

	uint32_t file = row.file, line = row.line;

	for (uint32_t at = row.node; at && count < SYMBOL_LINES_MAX;) {
		const struct symbol_node *node = &table->nodes[at];
		const struct symbol_function *function = &table->functions[node->function];
		uint32_t own_file = node->parent ? 0 : node->call_file;
		str name, system_name = system_name_of(string_at(table, function->name), &name);

		lines[count++] = (struct symbol_line){
			.system_name = system_name,
			.name = name,
			.file = string_at(table, table->files[file ? file : own_file]),
			.line = line,
			.start_line = function->start_line,
		};
		file = node->call_file;
		line = node->call_line;
		at = node->parent;
	}
	return count;
}
