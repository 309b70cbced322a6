// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_file.h"

#include "base/hash.h"

#include <sys/mman.h>
#include <sys/stat.h>

/* The parts of a block in the mapped page. */
struct mapped_block {
	uint32_t count;
	const uint8_t *addresses, *rules;
	bool is_wide;
};

static uint16_t u16_at(const uint8_t *at, uint32_t index)
{
	uint16_t value;

	memcpy(&value, at + (size_t)index * sizeof(value), sizeof(value));
	return value;
}

static struct unwind_entry entry_at(const uint8_t *entries, uint32_t index)
{
	struct unwind_entry entry;

	memcpy(&entry, entries + (size_t)index * sizeof(entry), sizeof(entry));
	return entry;
}

/* The entries of blocks are contiguous, in the root or in the index pages. */
static const uint8_t *block_entries(const struct unwind_file *file)
{
	return file->pages +
	       (file->header->depth == 1 ? sizeof(struct unwind_header) : UNWIND_PAGE_BYTES);
}

static struct mapped_block block_at(const struct unwind_file *file, uint32_t place)
{
	const uint8_t *at = file->pages + (place & ~(uint32_t)UNWIND_BLOCK_WIDE);
	uint32_t count = u16_at(at, 0);

	return (struct mapped_block){ .count = count,
				      .addresses = at + sizeof(uint16_t),
				      .rules = at + sizeof(uint16_t) * (1 + count),
				      .is_wide = place & UNWIND_BLOCK_WIDE };
}

static uint32_t rule_at(const struct mapped_block *block, uint32_t row)
{
	return block->is_wide ? u16_at(block->rules, row) : block->rules[row];
}

static bool corrupt(struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID, "the unwind table is corrupt: %s", what);
}

static bool header_check(const struct unwind_file *file, struct err *err)
{
	const struct unwind_header *header = file->header;
	uint64_t bytes = (uint64_t)file->page_count * UNWIND_PAGE_BYTES;
	uint64_t rules = (uint64_t)header->rule_count * sizeof(struct unwind_rule);
	uint64_t index_pages =
		((uint64_t)header->block_count + UNWIND_INDEX_MAX - 1) / UNWIND_INDEX_MAX;
	uint64_t roots = header->depth == 1 ? header->block_count : index_pages;

	if (header->page_count != file->page_count || header->depth < 1 || header->depth > 2)
		return corrupt(err, "its header");
	if (header->block_count == 0 || header->root_count != roots || roots > UNWIND_ROOT_MAX ||
	    (header->depth == 2 && index_pages >= file->page_count))
		return corrupt(err, "the number of blocks");
	if (header->rule_count == 0 || header->rule_count > UNWIND_RULES_MAX ||
	    header->rules_at % sizeof(struct unwind_rule) || rules > bytes ||
	    header->rules_at > bytes - rules)
		return corrupt(err, "the offset of its rules");
	if (header->bytes == 0 || header->base > UINT64_MAX - header->bytes)
		return corrupt(err, "its addresses");
	return true;
}

static bool rules_check(const struct unwind_file *file, struct err *err)
{
	for (uint32_t i = 0; i < file->header->rule_count; i++) {
		struct unwind_rule rule;

		memcpy(&rule, file->pages + file->header->rules_at + i * sizeof(rule),
		       sizeof(rule));
		if (rule.cfa >= UNWIND_CFA_COUNT || rule.frame_pointer >= UNWIND_SAVED_COUNT ||
		    rule.return_address >= UNWIND_SAVED_COUNT)
			return corrupt(err, "a rule");
	}
	return true;
}

/* The block's rows ascend and end before the next block begins; each has a valid rule. */
static bool block_check(const struct unwind_file *file, uint32_t place, uint64_t room,
			struct err *err)
{
	uint64_t at = place & ~(uint32_t)UNWIND_BLOCK_WIDE;
	uint64_t left = UNWIND_PAGE_BYTES - at % UNWIND_PAGE_BYTES;

	if (at % 2 || at >= (uint64_t)file->page_count * UNWIND_PAGE_BYTES)
		return corrupt(err, "the offset of a block");

	struct mapped_block block = block_at(file, place);
	uint64_t row_bytes = sizeof(uint16_t) + (block.is_wide ? sizeof(uint16_t) : 1);

	if (block.count == 0 || block.count > UNWIND_BLOCK_ROWS_MAX ||
	    sizeof(uint16_t) + block.count * row_bytes > left)
		return corrupt(err, "the number of a block's rows");
	for (uint32_t i = 0; i < block.count; i++) {
		uint16_t address = u16_at(block.addresses, i);

		if (i ? address <= u16_at(block.addresses, i - 1) : address != 0)
			return corrupt(err, "the order of rows");
		if (address >= room || rule_at(&block, i) >= file->header->rule_count)
			return corrupt(err, "a row");
	}
	return true;
}

static bool blocks_check(const struct unwind_file *file, struct err *err)
{
	const struct unwind_header *header = file->header;
	const uint8_t *entries = block_entries(file);
	uint64_t rows = 0;

	for (uint32_t i = 0; i < header->block_count; i++) {
		struct unwind_entry entry = entry_at(entries, i);
		uint64_t next = i + 1 < header->block_count ? entry_at(entries, i + 1).address
							    : header->bytes;

		if ((i == 0 && entry.address != 0) || next <= entry.address)
			return corrupt(err, "the order of blocks");
		if (!block_check(file, entry.place, next - entry.address, err))
			return false;
		rows += block_at(file, entry.place).count;
	}
	return rows == header->row_count || corrupt(err, "the number of rows");
}

static bool root_check(const struct unwind_file *file, struct err *err)
{
	const uint8_t *root = file->pages + sizeof(struct unwind_header);

	for (uint32_t i = 0; file->header->depth == 2 && i < file->header->root_count; i++) {
		struct unwind_entry entry = entry_at(root, i);
		struct unwind_entry first = entry_at(block_entries(file), i * UNWIND_INDEX_MAX);

		if (entry.place != (i + 1) * UNWIND_PAGE_BYTES || entry.address != first.address)
			return corrupt(err, "its root");
	}
	return true;
}

static bool image_check(struct unwind_file *file, struct err *err)
{
	const struct unwind_file_header *header = file->image;
	uint64_t bytes;

	if (file->image_len < sizeof(*header) ||
	    memcmp(header->magic, UNWIND_FILE_MAGIC, sizeof(header->magic)) != 0)
		return err_set(err, ERR_INVALID, "not an unwind table");
	if (header->version != UNWIND_FILE_VERSION)
		return err_set(err, ERR_INVALID, "an unwind table of version %u, not %d",
			       header->version, UNWIND_FILE_VERSION);
	bytes = (uint64_t)header->page_count * UNWIND_PAGE_BYTES;
	if (header->page_count == 0 || file->image_len != sizeof(*header) + bytes)
		return corrupt(err, "its size");
	file->pages = (const uint8_t *)(header + 1);
	file->page_count = header->page_count;
	file->header = (const struct unwind_header *)(const void *)file->pages;
	if (hash_64((str){ (const char *)file->pages, bytes }) != header->checksum)
		return corrupt(err, "its checksum");
	return header_check(file, err) && rules_check(file, err) && blocks_check(file, err) &&
	       root_check(file, err);
}

bool unwind_file_open(struct unwind_file *file, int fd, struct err *err)
{
	struct stat stat;

	*file = (struct unwind_file){ 0 };
	if (fstat(fd, &stat))
		return err_errno(err, "stat the unwind table");
	if (stat.st_size < (off_t)sizeof(struct unwind_file_header))
		return err_set(err, ERR_INVALID, "not an unwind table");

	void *image = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (image == MAP_FAILED)
		return err_errno(err, "map the unwind table");
	file->image = image;
	file->image_len = (size_t)stat.st_size;
	if (image_check(file, err))
		return true;
	unwind_file_close(file);
	return false;
}

void unwind_file_close(struct unwind_file *file)
{
	if (file->image)
		munmap(file->image, file->image_len);
	*file = (struct unwind_file){ 0 };
}

/* The block and the row at this address. False: outside of the table. */
static bool row_find(const struct unwind_file *file, uint64_t address, uint32_t *ret_block,
		     uint32_t *ret_row)
{
	const uint8_t *entries = block_entries(file);
	uint64_t from_base = address - file->header->base;
	uint32_t low = 0, high = file->header->block_count, row = 0;

	if (address < file->header->base || from_base >= file->header->bytes)
		return false;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (entry_at(entries, middle).address <= from_base)
			low = middle;
		else
			high = middle;
	}

	struct unwind_entry entry = entry_at(entries, low);
	struct mapped_block block = block_at(file, entry.place);

	from_base -= entry.address;
	for (uint32_t end = block.count; end - row > 1;) {
		uint32_t middle = row + (end - row) / 2;

		if (u16_at(block.addresses, middle) <= from_base)
			row = middle;
		else
			end = middle;
	}
	*ret_block = low;
	*ret_row = row;
	return true;
}

bool unwind_file_find(const struct unwind_file *file, uint64_t address,
		      struct unwind_rule *ret_rule)
{
	uint32_t index, row;

	if (!row_find(file, address, &index, &row))
		return false;

	struct mapped_block block = block_at(file, entry_at(block_entries(file), index).place);
	uint64_t at = file->header->rules_at + (uint64_t)rule_at(&block, row) * sizeof(*ret_rule);
	struct unwind_rule rule;

	memcpy(&rule, file->pages + at, sizeof(rule));
	if (rule.cfa == UNWIND_CFA_NONE)
		return false;
	*ret_rule = rule;
	return true;
}

bool unwind_file_next(const struct unwind_file *file, uint64_t address, uint64_t *ret_address)
{
	const struct unwind_header *header = file->header;
	uint32_t index, row;

	if (address < header->base) {
		*ret_address = header->base;
		return true;
	}
	if (!row_find(file, address, &index, &row))
		return false;

	struct unwind_entry entry = entry_at(block_entries(file), index);
	struct mapped_block block = block_at(file, entry.place);

	if (row + 1 < block.count)
		*ret_address = header->base + entry.address + u16_at(block.addresses, row + 1);
	else if (index + 1 < header->block_count)
		*ret_address = header->base + entry_at(block_entries(file), index + 1).address;
	else
		*ret_address = header->base + header->bytes;
	return true;
}
