// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/reader.h"
#include "elf/limits.h"
#include "symbols/symbol_writer_internal.h"

#include <assert.h>
#include <errno.h>

#define STEP_MAX (UINT64_MAX >> 2) /* the largest difference of addresses that a row can encode */

#define VEC_BYTES(vec) ((str){ (const char *)(vec)->items, (vec)->len * sizeof(*(vec)->items) })

static str name_at(const struct symbol_writer *writer, uint32_t at)
{
	struct reader r = reader_of(str_skip(buf_bytes(&writer->strings), at));

	return reader_str_prefixed(&r);
}

/* Names come from untrusted files. */
static uint64_t hash_id(uint64_t id)
{
	return hash_seeded_u64(id, hash_seed());
}

/* The offset of the name in the strings, added if it is new. Beyond 4 GiB is_full is set. */
static uint32_t name_add(struct symbol_writer *writer, str name)
{
	size_t known = writer->names.len;

	if (name.len > SYMBOL_NAME_MAX)
		name.len = SYMBOL_NAME_MAX;

	uint32_t *at = index_at(writer->arena, &writer->names, hash_seeded(name, hash_seed()), each,
				str_eq(name_at(writer, each), name));

	if (writer->names.len == known)
		return *at;
	if (writer->strings.len > UINT32_MAX - SYMBOL_NAME_MAX - 16) {
		index_remove(&writer->names, at); /* GCOVR_EXCL_LINE: needs 4 GiB of names */
		writer->is_full = true;           /* GCOVR_EXCL_LINE: needs 4 GiB of names */
		return 0;                         /* GCOVR_EXCL_LINE: needs 4 GiB of names */
	}
	*at = (uint32_t)writer->strings.len;
	buf_str_prefixed(&writer->strings, name);
	return *at;
}

uint32_t symbol_writer_function(struct symbol_writer *writer, str name, uint32_t start_line)
{
	struct symbol_function function = { name_add(writer, name), start_line };
	uint64_t hash = hash_id((uint64_t)function.name << 32 | start_line);
	uint32_t *id =
		index_at(writer->arena, &writer->function_ids, hash, each,
			 memcmp(&writer->functions.items[each], &function, sizeof(function)) == 0);

	if (writer->function_ids.len > writer->functions.len) {
		*id = (uint32_t)writer->functions.len;
		*vec_push(writer->arena, &writer->functions) = function;
	}
	return *id;
}

uint32_t symbol_writer_qualified(struct symbol_writer *writer, str name, str qualified,
				 uint32_t start_line)
{
	struct buf *both = &writer->both_names;

	if (!qualified.len || name.len + qualified.len > SYMBOL_NAME_MAX - 8)
		return symbol_writer_function(writer, name, start_line);
	both->len = 0;
	buf_u8(both, 0);
	buf_str_prefixed(both, name);
	buf_str(both, qualified);
	return symbol_writer_function(writer, buf_bytes(both), start_line);
}

uint32_t symbol_writer_file(struct symbol_writer *writer, str name)
{
	uint32_t at = name_add(writer, name);
	uint32_t *id = index_at(writer->arena, &writer->file_ids, hash_id(at), each,
				writer->files.items[each] == at);

	if (writer->file_ids.len > writer->files.len) {
		*id = (uint32_t)writer->files.len;
		*vec_push(writer->arena, &writer->files) = at;
	}
	return *id;
}

uint32_t symbol_writer_node(struct symbol_writer *writer, struct symbol_node node)
{
	if (writer->nodes.len >= UINT32_MAX) {
		writer->is_full = true;
		return 0;
	}
	*vec_push(writer->arena, &writer->nodes) = node;
	return (uint32_t)writer->nodes.len - 1;
}

void symbol_writer_init(struct symbol_writer *writer, struct arena *arena)
{
	*writer = (struct symbol_writer){ .arena = arena };
	writer->rows.arena = arena;
	writer->strings.arena = arena;
	writer->both_names.arena = arena;
	symbol_writer_function(writer, (str){ 0 }, 0);
	symbol_writer_file(writer, (str){ 0 });
	symbol_writer_node(writer, (struct symbol_node){ 0 });
}

static void block_end(struct symbol_writer *writer)
{
	if (writer->block.row_count)
		*vec_push(writer->arena, &writer->blocks) = writer->block;
	writer->block = (struct symbol_block){ 0 };
}

/* True if the row equals the previous one, except for its address. */
static bool row_is_redundant(const struct symbol_writer *writer, const struct symbol_row *row)
{
	const struct symbol_row *last = &writer->last;

	if (!writer->row_count)
		return !row->node;
	return row->node == last->node && row->file == last->file && row->line == last->line;
}

void symbol_writer_row(struct symbol_writer *writer, struct symbol_row row)
{
	struct symbol_row last = writer->last;

	if (!row.node) /* without a node there is no line */
		row.file = row.line = 0;
	if (row_is_redundant(writer, &row))
		return;
	assert(!writer->row_count || row.address > last.address);
	if (writer->block.row_count == SYMBOL_BLOCK_ROWS || row.address - last.address > STEP_MAX)
		block_end(writer);
	if (!writer->block.row_count) {
		writer->is_full |= writer->rows.len > UINT32_MAX;
		writer->block.address = row.address;
		writer->block.rows_at = (uint32_t)writer->rows.len;
		last = (struct symbol_row){ .address = row.address };
	}

	uint64_t head = (row.address - last.address) << 2;

	head |= row.node != last.node ? SYMBOL_ROW_NODE : 0;
	head |= row.file != last.file ? SYMBOL_ROW_FILE : 0;
	buf_varint(&writer->rows, head);
	buf_zigzag(&writer->rows, (int64_t)row.line - last.line);
	if (head & SYMBOL_ROW_NODE)
		buf_zigzag(&writer->rows, (int64_t)row.node - last.node);
	if (head & SYMBOL_ROW_FILE)
		buf_zigzag(&writer->rows, (int64_t)row.file - last.file);
	writer->block.row_count++;
	writer->row_count++;
	writer->last = row;
}

static bool write_whole(int fd, uint64_t at, str bytes, struct err *err)
{
	while (bytes.len) {
		ssize_t n = pwrite(fd, bytes.ptr, bytes.len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "write the symbol table");
		bytes = str_skip(bytes, (size_t)n);
		at += (uint64_t)n;
	}
	return true;
}

bool symbol_writer_write(struct symbol_writer *writer, int fd, struct err *err)
{
	block_end(writer);

	const str parts[SYMBOL_PART_COUNT] = {
		[SYMBOL_BLOCKS] = VEC_BYTES(&writer->blocks),
		[SYMBOL_NODES] = VEC_BYTES(&writer->nodes),
		[SYMBOL_FUNCTIONS] = VEC_BYTES(&writer->functions),
		[SYMBOL_FILES] = VEC_BYTES(&writer->files),
		[SYMBOL_ROWS] = buf_bytes(&writer->rows),
		[SYMBOL_STRINGS] = buf_bytes(&writer->strings),
	};
	struct symbol_header header = {
		.magic = SYMBOL_MAGIC,
		.version = SYMBOL_VERSION,
		.split_units = writer->split_units,
		.row_count = writer->row_count,
	};
	str summed = { (const char *)&header.row_count,
		       sizeof(header) - offsetof(struct symbol_header, row_count) };
	uint64_t at = sizeof(header);

	if (writer->is_full)
		return err_set(err, ERR_LIMIT, "names or rows of more than 4 GiB");
	for (enum symbol_part part = 0; part < SYMBOL_PART_COUNT; part++) {
		if (!write_whole(fd, at, parts[part], err))
			return false;
		header.sizes[part] = parts[part].len;
		header.hashes[part] = hash_64(parts[part]);
		at += (parts[part].len + 7) & ~(uint64_t)7;
	}
	header.checksum = hash_64(summed);
	if (ftruncate(fd, (off_t)at))
		return err_errno(err, "write the symbol table");
	return write_whole(fd, 0, (str){ (const char *)&header, sizeof(header) }, err);
}
