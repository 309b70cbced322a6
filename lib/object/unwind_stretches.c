// SPDX-License-Identifier: Apache-2.0
#include "unwind_stretches.h"

bool unwind_stretches_init(struct unwind_stretches *stretches, const struct elf_file *elf,
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
	/* Addresses count from where the code begins, in 32 bits. */
	if (high > low && high - low > UINT32_MAX)
		return err_set(err, ERR_LIMIT, "its code reaches over 4 GB");
	*stretches = (struct unwind_stretches){
		.arena = arena,
		.elf = elf,
		.base = high > low ? low : 0,
		.memory_max = memory_max,
	};
	return true;
}

/* Whether all of it is code of the file. */
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

void unwind_stretches_add(struct unwind_stretches *stretches, uint64_t start, uint64_t len,
			  struct unwind_stretch stretch)
{
	if (len == 0 || !is_code(stretches->elf, start, len))
		return;
	stretch.start = (uint32_t)(start - stretches->base);
	stretch.end = (uint32_t)(start - stretches->base + len);
	stretch.order = (uint32_t)stretches->items.len;
	*vec_push(stretches->arena, &stretches->items) = stretch;
}

bool unwind_stretches_fit(const struct unwind_stretches *stretches, struct err *err)
{
	if (stretches->arena->held > stretches->memory_max)
		return err_set(err, ERR_LIMIT, "its unwind rows need more than %ju bytes",
			       (uintmax_t)stretches->memory_max);
	return true;
}

static int stretch_compare(const void *left, const void *right)
{
	const struct unwind_stretch *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Linkers sort most of them. */
static void stretches_sort(struct unwind_stretches *stretches)
{
	struct unwind_stretch *items = stretches->items.items;

	for (size_t i = 1; i < stretches->items.len; i++)
		if (stretch_compare(&items[i], &items[i - 1]) < 0) {
			qsort(items, stretches->items.len, sizeof(*items), stretch_compare);
			return;
		}
}

/* How far better sources have spoken; then this one has, too. */
static uint32_t cover(uint32_t *covered, const struct unwind_stretch *stretch)
{
	uint32_t better = 0;

	for (int source = 0; source < (int)stretch->source; source++)
		if (covered[source] > better)
			better = covered[source];
	if (stretch->end > covered[stretch->source])
		covered[stretch->source] = stretch->end;
	return better;
}

/* Leave out those that begin where a better one speaks, or begin like the one before. */
static void stretches_choose(struct unwind_stretches *stretches)
{
	struct unwind_stretch *items = stretches->items.items;
	uint32_t covered[UNWIND_SOURCE_COUNT] = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < stretches->items.len; i++) {
		struct unwind_stretch stretch = items[i];

		if (cover(covered, &stretch) > stretch.start)
			continue;
		if (kept && items[kept - 1].start == stretch.start)
			continue;
		items[kept++] = stretch;
	}
	stretches->items.len = kept;
}

bool unwind_stretches_rows(struct unwind_stretches *stretches, struct unwind_rows *rows,
			   struct err *err)
{
	stretches_sort(stretches);
	stretches_choose(stretches);
	unwind_rows_init(rows, stretches->arena, stretches->base);
	for (size_t i = 0; i < stretches->items.len; i++) {
		struct unwind_stretch stretch = stretches->items.items[i];
		const struct unwind_teller *teller = &stretches->tellers[stretch.source];

		if (i + 1 < stretches->items.len &&
		    stretches->items.items[i + 1].start < stretch.end)
			stretch.end = stretches->items.items[i + 1].start;
		unwind_rows_begin(rows, stretch.start);
		teller->rows_add(teller->self, &stretch, rows);
		unwind_rows_end(rows, stretch.end);
		if (!unwind_stretches_fit(stretches, err))
			return false;
		if (rows->rows.len > UNWIND_ROWS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d unwind rows", UNWIND_ROWS_MAX);
	}
	return true;
}
