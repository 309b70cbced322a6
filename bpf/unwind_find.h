// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_find - searches in pages: the mapping of an address, and its row in a table.
 *
 * How pages lie is said in object/unwind_format.h. Every place is masked to lie in its page, so
 * that a verifier sees it. A search among rows has no branch that depends on them: whether an entry
 * is passed is a mask of all ones or none, else the verifier would follow each way to each row.
 */
#pragma once

#include "object/unwind_format.h"
#include "unwind_maps.h"
#include "unwind_walk.h"

#if defined(__clang__)
#define UNWIND_UNROLL _Pragma("unroll")
#else
#define UNWIND_UNROLL _Pragma("GCC unroll 16")
#endif

/* What was stored is loaded again: a verifier knows nothing of it then. */
#define UNWIND_IN_MEMORY() __asm__ volatile("" ::: "memory")

/* Index of the last of `count` entries, from byte `at` of the page on, that is not past address. */
static inline uint32_t unwind_search_entries(const uint8_t *page, uint32_t at, uint32_t count,
					     uint64_t address)
{
	uint32_t low = 0;

	UNWIND_UNROLL
	for (uint32_t half = UNWIND_INDEX_MAX / 2; half; half >>= 1) {
		uint32_t probe = low + half;
		const struct unwind_entry *entry =
			(const void *)(page + ((at + probe * sizeof(*entry)) & 4088));
		uint64_t ahead = (address - entry->address) | ((uint64_t)count - 1 - probe);

		low += half & ~(uint32_t)((int64_t)ahead >> 63);
	}
	return low;
}

/* The same of the rows of a block, which begin two bytes from `at`. */
static inline uint32_t unwind_search_rows(const uint8_t *page, uint32_t at, uint32_t count,
					  uint64_t address)
{
	uint32_t low = 0;

	UNWIND_UNROLL
	for (uint32_t half = UNWIND_BLOCK_ROWS_MAX / 2; half; half >>= 1) {
		uint32_t probe = low + half;
		const uint16_t *row = (const void *)(page + ((at + 2 + 2 * probe) & 4094));
		uint64_t ahead = (address - *row) | ((uint64_t)count - 1 - probe);

		low += half & ~(uint32_t)((int64_t)ahead >> 63);
	}
	return low;
}

static inline const uint8_t *unwind_table_page(struct unwind *walk, uint32_t place)
{
	return unwind_page(walk, (uint64_t)walk->mapping.table + place / UNWIND_PAGE_BYTES);
}

/* The number of the rule, in a block that begins at this offset from the table's base. */
static inline bool unwind_find_in_block(struct unwind *walk, struct unwind_entry block,
					uint64_t offset, uint32_t *ret_rule)
{
	const uint8_t *page = unwind_table_page(walk, block.place);
	uint32_t at = block.place & 4094;

	if (!page)
		return false;

	uint32_t count = *(const uint16_t *)(const void *)(page + at);
	uint32_t row = unwind_search_rows(page, at, count, offset - block.address);
	uint32_t rules = at + 2 + 2 * count;

	if (block.place & UNWIND_BLOCK_WIDE)
		*ret_rule = *(const uint16_t *)(const void *)(page + ((rules + 2 * row) & 4094));
	else
		*ret_rule = page[(rules + row) & 4095];
	return true;
}

/* The rule at an address of the table's ELF file. False: a page of the table is not there. */
static inline bool unwind_search_table(struct unwind *walk, uint64_t address,
				       struct unwind_rule *ret_rule)
{
	const uint8_t *page = unwind_table_page(walk, 0);
	const struct unwind_header *header = (const void *)page;
	struct unwind_entry entry;
	uint32_t rule;

	if (!page)
		return false;

	uint64_t offset = address - header->base;
	uint32_t rules_at = header->rules_at, flags = header->flags;

	if (offset >= header->bytes) {
		*ret_rule = (struct unwind_rule){ .cfa = flags & UNWIND_TABLE_GO
								 ? UNWIND_CFA_FRAME_POINTER
								 : UNWIND_CFA_NONE };
		return true;
	}

	uint32_t root = unwind_search_entries(page, sizeof(*header), header->root_count, offset);

	entry = *(const struct unwind_entry *)(const void *)(page + ((sizeof(*header) +
								      root * sizeof(entry)) &
								     4088));
	if (header->depth == 2) {
		uint32_t count = header->block_count - root * UNWIND_INDEX_MAX;
		uint32_t low;

		page = unwind_table_page(walk, entry.place);
		if (!page)
			return false;
		low = unwind_search_entries(page, 0, count, offset);
		entry = *(const struct unwind_entry *)(const void *)(page + ((low * sizeof(entry)) &
									     4088));
	}
	if (!unwind_find_in_block(walk, entry, offset, &rule))
		return false;
	rules_at += rule * (uint32_t)sizeof(*ret_rule);
	page = unwind_table_page(walk, rules_at);
	if (!page)
		return false;
	*ret_rule = *(const struct unwind_rule *)(const void *)(page + (rules_at & 4080));
	if (ret_rule->cfa == UNWIND_CFA_NONE && flags & UNWIND_TABLE_GO)
		ret_rule->cfa = UNWIND_CFA_FRAME_POINTER;
	return true;
}

/*
 * The rule at an address in walk->mapping. Those that came last are kept while a stack is walked:
 * where functions call themselves, maybe by others, the same addresses come again and again.
 */
static inline bool unwind_find_rule(struct unwind *walk, uint64_t address,
				    struct unwind_rule *ret_rule)
{
	struct unwind_seen *seen = &walk->seen[(address ^ address >> 5) & (UNWIND_SEEN - 1)];

	if (seen->address == address) {
		*ret_rule = seen->rule;
		return true;
	}
	if (!unwind_search_table(walk, address - walk->mapping.bias, ret_rule))
		return false;
	seen->address = address;
	seen->rule = *ret_rule;
	return true;
}

static inline const struct unwind_mapping *unwind_mapping_at(struct unwind *walk, uint32_t index)
{
	uint64_t place = walk->list + (uint64_t)index * sizeof(struct unwind_mapping);
	const uint8_t *page = unwind_page(walk, place / UNWIND_PAGE_BYTES);

	return page ? (const void *)(page + (place & 4064)) : NULL;
}

static inline bool unwind_is_in_mapping(const struct unwind *walk, uint64_t address)
{
	return address - walk->mapping.start < walk->mapping.end - walk->mapping.start;
}

/*
 * Makes walk->mapping that of an address. False: it is in none. Mostly it is the one that the frame
 * before was in.
 *
 * Here are branches: a probe costs two look-ups. What was found so far is kept in memory, of whose
 * contents the verifier knows nothing, so that it follows each probe once. The verifiers of
 * 5.10 and 6.1 refuse a loop that falls into what a jump has reached before: it is unrolled.
 */
static __attribute__((noinline, unused)) bool unwind_find_mapping(struct unwind *walk,
								  uint64_t address)
{
	const struct unwind_mapping *mapping;

	if (unwind_is_in_mapping(walk, address))
		return true;
	walk->low = 0;
	UNWIND_UNROLL
	for (uint32_t half = UNWIND_MAPPINGS_MAX / 2; half; half >>= 1) {
		uint32_t probe = walk->low + half;

		if (probe >= walk->list_count)
			continue;
		mapping = unwind_mapping_at(walk, probe);
		if (!mapping)
			return false;
		if (mapping->start <= address)
			walk->low = probe;
	}
	if (walk->list_count == 0)
		return false;
	mapping = unwind_mapping_at(walk, walk->low);
	if (!mapping || address < mapping->start || address >= mapping->end)
		return false;
	walk->mapping = *mapping;
	return true;
}
