// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_writer_internal.h"

#include <assert.h>

enum {
	NARROW_BYTES = 3, /* of a row: two for its address and one for its rule */
	WIDE_BYTES = 4,
	COUNT_BYTES = 2,
	NARROW_RULES = 256, /* rules that one byte can index */
	/* Consecutive one-byte rows in a wide block: fewer do not justify a new block. */
	WORTH_A_BLOCK = 2 * (int)(sizeof(struct unwind_entry) + COUNT_BYTES),
	WORTH_FILLING = 64, /* bytes left in a page; fewer stay empty */
};

struct planned_block {
	size_t first, count; /* rows */
	uint64_t at;         /* offset from the first page of blocks */
	bool is_wide;
};

struct page_layout {
	const struct unwind_rows *rows;
	struct arena *arena;
	uint16_t *place_of;   /* by id: index of the rule in the table */
	uint16_t *rule_order; /* by index in the table: its id */
	uint16_t rule_count;
	VEC(struct planned_block) blocks;
	uint64_t at; /* offset of the next block from the first page of blocks */
	char *pages;
};

struct use {
	uint64_t count;
	uint16_t id;
};

static int use_compare(const void *left, const void *right)
{
	const struct use *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The most frequent rules first; unused rules are left out. */
static void rules_order(struct page_layout *layout)
{
	const struct unwind_rows *rows = layout->rows;
	struct use *uses = arena_array(layout->arena, struct use, rows->rules.len);

	for (uint16_t id = 0; id < rows->rules.len; id++)
		uses[id].id = id;
	for (size_t i = 0; i < rows->rows.len; i++)
		uses[rows->rows.items[i].rule].count++;
	qsort(uses, rows->rules.len, sizeof(*uses), use_compare);
	layout->place_of = arena_array(layout->arena, uint16_t, rows->rules.len);
	layout->rule_order = arena_array(layout->arena, uint16_t, rows->rules.len);
	for (uint16_t i = 0; i < rows->rules.len && uses[i].count; i++) {
		layout->rule_order[i] = uses[i].id;
		layout->place_of[uses[i].id] = i;
		layout->rule_count++;
	}
}

static bool needs_wide(const struct page_layout *layout, size_t row)
{
	return layout->place_of[layout->rows->rows.items[row].rule] >= NARROW_RULES;
}

static size_t bytes_of(size_t rows, bool is_wide)
{
	size_t bytes = COUNT_BYTES + rows * (is_wide ? WIDE_BYTES : NARROW_BYTES);

	return bytes + bytes % 2;
}

/* The number of rows, from `first` on, that go into one block of `room` bytes. */
static size_t block_len(const struct page_layout *layout, size_t first, bool is_wide, size_t room)
{
	const struct unwind_row *items = layout->rows->rows.items;
	size_t most = (room - COUNT_BYTES) / (is_wide ? WIDE_BYTES : NARROW_BYTES), wide = first;
	size_t i = first;

	if (most > UNWIND_BLOCK_ROWS_MAX)
		most = UNWIND_BLOCK_ROWS_MAX;
	for (; i < layout->rows->rows.len && i - first < most; i++) {
		if (items[i].address - items[first].address > UINT16_MAX)
			break;
		if (needs_wide(layout, i) && !is_wide)
			break;
		if (needs_wide(layout, i))
			wide = i;
		if (is_wide && i - wide > WORTH_A_BLOCK)
			return wide + 1 - first;
	}
	return i - first;
}

static void blocks_layout(struct page_layout *layout)
{
	for (size_t i = 0; i < layout->rows->rows.len;) {
		size_t room = UNWIND_PAGE_BYTES - layout->at % UNWIND_PAGE_BYTES;
		struct planned_block block = { .first = i, .is_wide = needs_wide(layout, i) };

		if (room < WORTH_FILLING) {
			layout->at += room;
			room = UNWIND_PAGE_BYTES;
		}
		block.at = layout->at;
		block.count = block_len(layout, i, block.is_wide, room);
		/* The padding to an even length may not fit. */
		if (bytes_of(block.count, block.is_wide) > room)
			block.count--;
		*vec_push(layout->arena, &layout->blocks) = block;
		layout->at += bytes_of(block.count, block.is_wide);
		i += block.count;
	}
}

static void block_write(const struct page_layout *layout, const struct planned_block *block,
			char *to)
{
	const struct unwind_row *items = &layout->rows->rows.items[block->first];
	uint16_t count = (uint16_t)block->count;
	char *rules = to + sizeof(count) * (block->count + 1);

	memcpy(to, &count, sizeof(count));
	for (size_t i = 0; i < block->count; i++) {
		uint16_t pc = (uint16_t)(items[i].address - items[0].address);
		uint16_t rule = layout->place_of[items[i].rule];

		memcpy(to + sizeof(count) + i * sizeof(pc), &pc, sizeof(pc));
		if (block->is_wide)
			memcpy(rules + i * sizeof(rule), &rule, sizeof(rule));
		else
			rules[i] = (char)rule;
	}
}

/* Offsets in entries count from the first page of the table, offsets of blocks from blocks_at. */
static void entries_write(const struct page_layout *layout, uint64_t blocks_at, char *to)
{
	uint32_t base = layout->rows->rows.items[0].address;

	for (size_t i = 0; i < layout->blocks.len; i++) {
		const struct planned_block *block = &layout->blocks.items[i];
		struct unwind_entry entry = {
			.address = layout->rows->rows.items[block->first].address - base,
			.place = (uint32_t)(blocks_at + block->at) |
				 (block->is_wide ? UNWIND_BLOCK_WIDE : 0),
		};

		memcpy(to + i * sizeof(entry), &entry, sizeof(entry));
		block_write(layout, block, layout->pages + blocks_at + block->at);
	}
}

/* An entry of the root has the address of the first entry of its index page. */
static void root_write(const struct page_layout *layout, uint32_t root_count)
{
	char *to = layout->pages + sizeof(struct unwind_header);

	for (uint32_t i = 0; i < root_count; i++) {
		struct unwind_entry entry;

		memcpy(&entry, layout->pages + (uint64_t)(i + 1) * UNWIND_PAGE_BYTES,
		       sizeof(entry));
		entry.place = (i + 1) * UNWIND_PAGE_BYTES;
		memcpy(to + i * sizeof(entry), &entry, sizeof(entry));
	}
}

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) / align * align;
}

bool unwind_pages_write(const struct unwind_rows *rows, struct arena *arena, str *ret_pages,
			struct err *err)
{
	struct page_layout layout = { .rows = rows, .arena = arena };

	assert(rows->rows.len);
	rules_order(&layout);
	blocks_layout(&layout);

	bool is_deep = layout.blocks.len > UNWIND_ROOT_MAX;
	uint64_t index_pages = align_up(layout.blocks.len, UNWIND_INDEX_MAX) / UNWIND_INDEX_MAX;
	uint64_t root_count = is_deep ? index_pages : layout.blocks.len;
	uint64_t blocks_at = (1 + (is_deep ? index_pages : 0)) * UNWIND_PAGE_BYTES;
	uint64_t rules_at = align_up(blocks_at + layout.at, sizeof(struct unwind_rule));
	uint64_t bytes = align_up(rules_at + layout.rule_count * sizeof(struct unwind_rule),
				  UNWIND_PAGE_BYTES);

	if (root_count > UNWIND_ROOT_MAX || bytes > UINT32_MAX)
		return err_set(err, ERR_LIMIT, "%zu unwind rows do not fit into a table",
			       rows->rows.len);

	struct unwind_header header = {
		.base = rows->base + rows->rows.items[0].address,
		.bytes = rows->end - rows->rows.items[0].address,
		.page_count = (uint32_t)(bytes / UNWIND_PAGE_BYTES),
		.row_count = (uint32_t)rows->rows.len,
		.block_count = (uint32_t)layout.blocks.len,
		.root_count = (uint32_t)root_count,
		.depth = is_deep ? 2 : 1,
		.rules_at = (uint32_t)rules_at,
		.rule_count = layout.rule_count,
		.flags = rows->flags,
	};

	layout.pages = arena_array(arena, char, bytes);
	memcpy(layout.pages, &header, sizeof(header));
	entries_write(&layout, blocks_at,
		      layout.pages + (is_deep ? UNWIND_PAGE_BYTES : sizeof(header)));
	if (is_deep)
		root_write(&layout, header.root_count);
	for (uint16_t i = 0; i < layout.rule_count; i++)
		memcpy(layout.pages + rules_at + i * sizeof(struct unwind_rule),
		       &rows->rules.items[layout.rule_order[i]], sizeof(struct unwind_rule));
	*ret_pages = (str){ layout.pages, bytes };
	return true;
}
