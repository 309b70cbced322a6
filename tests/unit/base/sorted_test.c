// SPDX-License-Identifier: Apache-2.0
#include "base/sorted.h"
#include "support/test.h"

struct range {
	uint64_t start, end;
};

static void counts_the_items_before_a_position(void **state)
{
	static const struct range items[] = { { 10, 20 }, { 20, 20 }, { 20, 30 }, { 40, 50 } };
	static const struct {
		uint64_t at;
		size_t begun, ended; /* number of items that begin, or end, at or before it */
	} rows[] = { { 0, 0, 0 },  { 10, 1, 0 }, { 19, 1, 0 }, { 20, 3, 2 },
		     { 39, 3, 3 }, { 40, 4, 3 }, { 50, 4, 4 }, { UINT64_MAX, 4, 4 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t at = rows[i].at;

		assert_int_equal(sorted_before(items, ARRAY_LEN(items), each, each->start <= at),
				 rows[i].begun);
		assert_int_equal(sorted_before(items, ARRAY_LEN(items), each, each->end <= at),
				 rows[i].ended);
	}
}

static void finds_the_first_of_every_length(void **state)
{
	size_t items[70];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		items[i] = 2 * i;
	for (size_t count = 0; count <= ARRAY_LEN(items); count++)
		for (size_t at = 0; at <= count; at++) {
			size_t odd = 2 * at - (at > 0);

			assert_int_equal(sorted_before(items, count, each, *each < odd), at);
		}
}

static void an_empty_array_has_no_item_before(void **state)
{
	const struct range *none = NULL;

	(void)state;
	assert_int_equal(sorted_before(none, 0, each, each->start == 0), 0);
}

RUN_TESTS(TEST(counts_the_items_before_a_position), TEST(finds_the_first_of_every_length),
	  TEST(an_empty_array_has_no_item_before))
