// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_find - finds the mapping that contains an address, and the unwind rule for an address, by
 * binary searches in pages.
 *
 * "unwind/unwind_format.h" describes the pages. A lookup goes from the list of mappings to a table,
 * and in the table from the root over entries and blocks to a row; the row has the number of a
 * rule. Nothing is allocated. Pages and rules belong to the agent; a page from unwind_page() is
 * valid during the walk. Used in BPF and in user space; one thread per struct unwind.
 *
 * The kernel's BPF verifier must be able to prove that each read stays in its page. So every offset
 * is masked with the page size, rounded down to the size of the item. The searches among entries,
 * rows and mappings have no branch that depends on the page's contents: the result of each
 * comparison is a mask of all ones or all zeroes. With branches the verifier would follow each path
 * to each row.
 */
#pragma once

#include "unwind/unwind_format.h"
#include "unwind_maps.h"
#include "unwind_walk.h"

#if defined(__clang__)
#define UNWIND_UNROLL _Pragma("unroll")
#else
#define UNWIND_UNROLL _Pragma("GCC unroll 16")
#endif

/* Forces values to be stored and loaded again: the verifier then knows nothing about them. */
#define UNWIND_IN_MEMORY() __asm__ volatile("" ::: "memory")

/* The array of `count` entries begins at byte `at` of the page and is sorted. Returns the index of
 * the last entry whose address is at most `address`; 0 if no entry is, or if count is 0. */
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

/* The block at byte `at` has a count of two bytes, then its rows. Returns the index of the last row
 * whose address is at most `address`, which counts from the block's address; 0 if no row is. */
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

/* Finds in a block the number of the rule that holds at the code address base + offset. False: the
 * page of the block is not loaded. */
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

/* Finds the rule of walk->mapping.table that holds at `address`, a virtual address of the ELF file.
 * Without a row: true with UNWIND_CFA_NONE, or with UNWIND_CFA_FRAME_POINTER if the table is of Go
 * code (UNWIND_TABLE_GO). False: a page of the table is not loaded. */
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
 * Finds the rule that holds at `address` in memory, which is in walk->mapping. True and false are
 * those of unwind_search_table(). The rule is copied into the rule cache, in the slot that a hash
 * selects: most samples are in functions that were sampled before, and a search of the table reads
 * a dozen cache lines that the CPU has not cached.
 */
static inline bool unwind_find_rule(struct unwind *walk, uint64_t address,
				    struct unwind_rule *ret_rule)
{
	uint64_t place = address - walk->mapping.bias;
	uint32_t table = walk->mapping.table, generation = walk->generation.tables;
	uint64_t hash = (place ^ (uint64_t)table << 32) * 0x9e3779b97f4a7c15;
	struct unwind_cached_rule *cached =
		UNWIND_RULE_CACHE_SLOT(hash >> (64 - UNWIND_RULE_CACHE_BITS));

	if (cached && cached->address == place && cached->table == table &&
	    cached->generation == generation) {
		*ret_rule = cached->rule;
		return true;
	}
	if (!unwind_search_table(walk, place, ret_rule))
		return false;
	if (cached)
		*cached = (struct unwind_cached_rule){ place, table, generation, *ret_rule };
	return true;
}

static inline bool unwind_is_in_mapping(const struct unwind *walk, uint64_t address)
{
	return address - walk->mapping.start < walk->mapping.end - walk->mapping.start;
}

/*
 * A list of several pages: sets walk->low to the index of the last page whose first mapping begins
 * at or below the address. The caller sets walk->low to 0 before. False: a page is not loaded.
 *
 * This search has branches, because each probe is in another page. The lower bound is in
 * walk->low, in memory whose contents the verifier does not track; so the verifier follows each
 * probe once. The loop is unrolled, because the verifiers of Linux 5.10 and 6.1 reject a loop whose
 * body jumps to an instruction that they have already verified.
 */
static inline bool unwind_find_list_page(struct unwind *walk, uint64_t address)
{
	UNWIND_UNROLL
	for (uint32_t half = UNWIND_LIST_PAGES_MAX / 2; half; half >>= 1) {
		uint32_t probe = walk->low + half;
		const uint8_t *page;

		if (probe * UNWIND_LIST_PAGE >= walk->list_count)
			continue;
		page = unwind_page(walk, walk->list / UNWIND_PAGE_BYTES + probe);
		if (!page)
			return false;
		if (((const struct unwind_mapping *)(const void *)page)->start <= address)
			walk->low = probe;
	}
	return true;
}

/* Returns the index of the last of `count` mappings, sorted from byte `at` of the page on, whose
 * start is at most `address`; 0 if no mapping is. Entries count from the table's base and are 32
 * bits wide, but these addresses have 64 bits. Mappings begin at even addresses, so the addresses
 * are compared without their lowest bit: the difference then fits in a signed number. */
static inline uint32_t unwind_search_mappings(const uint8_t *page, uint32_t at, uint32_t count,
					      uint64_t address)
{
	uint32_t low = 0;

	UNWIND_UNROLL
	for (uint32_t half = UNWIND_LIST_PAGE / 2; half; half >>= 1) {
		uint32_t probe = low + half;
		const struct unwind_mapping *mapping =
			(const void *)(page + ((at + probe * sizeof(*mapping)) & 4064));
		uint64_t ahead =
			((address >> 1) - (mapping->start >> 1)) | ((uint64_t)count - 1 - probe);

		low += half & ~(uint32_t)((int64_t)ahead >> 63);
	}
	return low;
}

/*
 * Sets walk->mapping to the mapping that contains the address. False, with walk->mapping unchanged:
 * no mapping contains the address, or a page of the list is not loaded. The mapping of the frame
 * that was walked before (its callee) is tried first.
 */
static __attribute__((noinline, unused)) bool unwind_find_mapping(struct unwind *walk,
								  uint64_t address)
{
	const struct unwind_mapping *mapping;
	const uint8_t *page;
	uint32_t at, low;

	if (unwind_is_in_mapping(walk, address))
		return true;
	walk->low = 0;
	if (walk->list_count == 0 ||
	    (walk->list_count > UNWIND_LIST_PAGE && !unwind_find_list_page(walk, address)))
		return false;
	page = unwind_page(walk, walk->list / UNWIND_PAGE_BYTES + walk->low);
	if (!page)
		return false;
	at = walk->list & 4064;
	low = unwind_search_mappings(page, at, walk->list_count - walk->low * UNWIND_LIST_PAGE,
				     address);
	mapping = (const void *)(page + ((at + low * sizeof(*mapping)) & 4064));
	if (address < mapping->start || address >= mapping->end)
		return false;
	walk->mapping = *mapping;
	return true;
}

/* Where the first mapping of the list begins: mostly the program. The walk's own address: unknown.
 */
static inline uint64_t unwind_program_start(struct unwind *walk)
{
	const uint8_t *page = unwind_page(walk, walk->list / UNWIND_PAGE_BYTES);

	return page ? ((const struct unwind_mapping *)(const void *)(page + (walk->list & 4064)))
			       ->start
		    : walk->now.pc;
}
