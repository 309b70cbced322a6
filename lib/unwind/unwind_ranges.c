// SPDX-License-Identifier: Apache-2.0
#include "base/sorted.h"
#include "unwind/unwind_ranges_internal.h"

bool unwind_ranges_init(struct unwind_ranges *ranges, const struct elf_file *elf,
			uint64_t memory_max, struct arena *arena, struct err *err)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (!segment->executable || segment->size == 0)
			continue;
		if (segment->address < low)
			low = segment->address;
		if (segment->address + segment->size > high)
			high = segment->address + segment->size;
	}
	/* Addresses are 32-bit offsets from the begin of the code. */
	if (high > low && high - low > UINT32_MAX)
		return err_set(err, ERR_LIMIT, "its code spans more than 4 GB");
	*ranges = (struct unwind_ranges){
		.arena = arena,
		.elf = elf,
		.base = high > low ? low : 0,
		.memory_max = memory_max,
	};
	return true;
}

/* True if the whole range is in an executable segment. */
static bool is_code(const struct elf_file *elf, uint64_t start, uint64_t len)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->executable && start >= segment->address &&
		    start - segment->address < segment->size &&
		    len <= segment->size - (start - segment->address))
			return true;
	}
	return false;
}

void unwind_ranges_add(struct unwind_ranges *ranges, uint64_t start, uint64_t len,
		       struct unwind_range range)
{
	if (len == 0 || !is_code(ranges->elf, start, len))
		return;
	range.start = (uint32_t)(start - ranges->base);
	range.end = (uint32_t)(start - ranges->base + len);
	range.order = (uint32_t)ranges->items.len;
	*vec_push(ranges->arena, &ranges->items) = range;
}

bool unwind_ranges_fit(const struct unwind_ranges *ranges, struct err *err)
{
	if (ranges->arena->size > ranges->memory_max)
		return err_set(err, ERR_LIMIT, "its unwind rows need more than %ju bytes",
			       (uintmax_t)ranges->memory_max);
	return true;
}

static int range_compare(const void *left, const void *right)
{
	const struct unwind_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Usually the linker has sorted them. */
static void ranges_sort(struct unwind_ranges *ranges)
{
	struct unwind_range *items = ranges->items.items;

	for (size_t i = 1; i < ranges->items.len; i++)
		if (range_compare(&items[i], &items[i - 1]) < 0) {
			qsort(items, ranges->items.len, sizeof(*items), range_compare);
			return;
		}
}

/* Returns the end of what better sources have covered, and adds this range to its source. */
static uint32_t cover(uint32_t *covered, const struct unwind_range *range)
{
	uint32_t better = 0;

	for (int source = 0; source < (int)range->source; source++)
		if (covered[source] > better)
			better = covered[source];
	if (range->end > covered[range->source])
		covered[range->source] = range->end;
	return better;
}

/* Drops ranges that begin in a range of a better source, or at the start of the previous range. */
static void ranges_choose(struct unwind_ranges *ranges)
{
	struct unwind_range *items = ranges->items.items;
	uint32_t covered[UNWIND_SOURCE_COUNT] = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < ranges->items.len; i++) {
		struct unwind_range range = items[i];

		if (cover(covered, &range) > range.start)
			continue;
		if (kept && items[kept - 1].start == range.start)
			continue;
		items[kept++] = range;
	}
	ranges->items.len = kept;
}

bool unwind_ranges_rows(struct unwind_ranges *ranges, struct unwind_rows *rows, struct err *err)
{
	ranges_sort(ranges);
	ranges_choose(ranges);
	unwind_rows_init(rows, ranges->arena, ranges->base);
	for (size_t i = 0; i < ranges->items.len; i++) {
		struct unwind_range range = ranges->items.items[i];
		const struct unwind_row_source *row_source = &ranges->row_sources[range.source];

		if (i + 1 < ranges->items.len && ranges->items.items[i + 1].start < range.end)
			range.end = ranges->items.items[i + 1].start;
		unwind_rows_begin(rows, range.start);
		row_source->rows_add(row_source->self, &range, rows);
		unwind_rows_end(rows, range.end);
		if (!unwind_ranges_fit(ranges, err))
			return false;
		if (rows->rows.len > UNWIND_ROWS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d unwind rows", UNWIND_ROWS_MAX);
	}
	return true;
}

const struct unwind_range *unwind_ranges_at(const struct unwind_ranges *ranges, uint32_t start)
{
	const struct unwind_range *items = ranges->items.items;
	size_t before = sorted_before(items, ranges->items.len, each, each->start < start);

	return before < ranges->items.len && items[before].start == start ? &items[before] : NULL;
}
