// SPDX-License-Identifier: Apache-2.0
/*
 * The flattened spans, compared with a search of all spans for every address.
 */
#include "support/test.h"
#include "symbols/symbol_spans_internal.h"

enum { ADDRESSES = 64 };

static uint32_t shown(const symbol_spans *spans, uint64_t address)
{
	const struct symbol_span *best = NULL;

	for (size_t i = 0; i < spans->len; i++) {
		const struct symbol_span *span = &spans->items[i];

		if (address < span->start || address >= span->end)
			continue;
		if (!best || span->depth > best->depth ||
		    (span->depth == best->depth && span->start > best->start))
			best = span;
	}
	return best ? best->node : 0;
}

static uint32_t point_at(const symbol_points *points, uint64_t address)
{
	uint32_t node = 0;

	for (size_t i = 0; i < points->len && points->items[i].address <= address; i++)
		node = points->items[i].node;
	return node;
}

static void agrees_with_a_search_of_all_spans(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		AUTO_ARENA arena = { 0 };
		symbol_spans spans = { 0 };
		uint32_t expected[ADDRESSES];

		for (uint32_t i = 0; i < (uint32_t)round % 12; i++) {
			seed = seed * 1664525 + 1013904223;

			uint64_t start = (seed >> 8) % ADDRESSES, len = (seed >> 16) % 20;

			*vec_push(&arena, &spans) = (struct symbol_span){
				.start = start,
				.end = start + len,
				.node = i + 1,
				.depth = (seed >> 24) % 3,
			};
		}
		for (uint64_t at = 0; at < ADDRESSES; at++)
			expected[at] = shown(&spans, at);

		symbol_points points = symbol_spans_flatten(&spans, &arena);

		for (uint64_t at = 0; at < ADDRESSES; at++)
			assert_int_equal(point_at(&points, at), expected[at]);
		for (size_t i = 0; i < points.len; i++) {
			uint32_t before = i ? points.items[i - 1].node : 0;

			assert_int_not_equal(points.items[i].node, before);
			assert_true(!i || points.items[i].address > points.items[i - 1].address);
		}
	}
}

RUN_TESTS(TEST(agrees_with_a_search_of_all_spans))
