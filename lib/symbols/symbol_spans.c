// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_spans_internal.h"

/* The spans that have begun and may not have ended: a binary heap, the winning span on top. */
struct heap {
	const struct symbol_span **items;
	size_t len;
};

static bool wins_over(const struct symbol_span *a, const struct symbol_span *b)
{
	if (a->depth != b->depth)
		return a->depth > b->depth;
	if (a->start != b->start)
		return a->start > b->start;
	return a < b;
}

static void heap_push(struct heap *heap, const struct symbol_span *span)
{
	size_t at = heap->len++;

	for (; at && wins_over(span, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
		heap->items[at] = heap->items[(at - 1) / 2];
	heap->items[at] = span;
}

static void heap_pop(struct heap *heap)
{
	const struct symbol_span *last = heap->items[--heap->len];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= heap->len)
			break;
		if (child + 1 < heap->len && wins_over(heap->items[child + 1], heap->items[child]))
			child++;
		if (!wins_over(heap->items[child], last))
			break;
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = last;
}

/*
 * By start. Equal ones must stay in the order in which they were added, and qsort() is not stable;
 * node ids grow in that order.
 */
static int span_compare(const void *left, const void *right)
{
	const struct symbol_span *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

static void point_add(symbol_points *points, struct arena *arena, uint64_t address, uint32_t node)
{
	struct symbol_point *last = points->len ? &points->items[points->len - 1] : NULL;

	if (last && last->address == address)
		points->len--;
	last = points->len ? &points->items[points->len - 1] : NULL;
	if ((last ? last->node : 0) != node)
		*vec_push(arena, points) = (struct symbol_point){ address, node };
}

/* Pops the spans that end up to `until`, and adds a point for each span that becomes visible. */
static void heap_end(struct heap *heap, uint64_t until, symbol_points *points, struct arena *arena)
{
	while (heap->len && heap->items[0]->end <= until) {
		uint64_t end = heap->items[0]->end;

		while (heap->len && heap->items[0]->end <= end)
			heap_pop(heap);
		point_add(points, arena, end, heap->len ? heap->items[0]->node : 0);
	}
}

symbol_points symbol_spans_flatten(symbol_spans *spans, struct arena *arena)
{
	struct heap heap = { arena_array(arena, const struct symbol_span *, spans->len), 0 };
	symbol_points points = { 0 };

	if (spans->len)
		qsort(spans->items, spans->len, sizeof(*spans->items), span_compare);
	for (size_t i = 0; i < spans->len; i++) {
		const struct symbol_span *span = &spans->items[i];

		if (span->start >= span->end)
			continue;
		heap_end(&heap, span->start, &points, arena);
		heap_push(&heap, span);
		point_add(&points, arena, span->start, heap.items[0]->node);
	}
	heap_end(&heap, UINT64_MAX, &points, arena);
	return points;
}
