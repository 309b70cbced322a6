// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/index.h"
#include "support/test.h"

enum { THINGS = 1 << 14, ROUNDS = 400000 };

struct thing {
	uint64_t key;
	bool is_in; /* the index has it, as the test knows */
};

typedef INDEX(struct thing *) thing_index;

static struct thing *find(const thing_index *index, uint64_t hash, uint64_t key)
{
	struct thing **found = index_find(index, hash, each, each->key == key);

	return found ? *found : NULL;
}

/* Adds or removes random keys, and checks each time that the index has what it must have. */
static void change_at_random(thing_index *index, struct thing *things, size_t count,
			     uint64_t hash_bits)
{
	uint64_t random = 1;

	for (size_t i = 0; i < ROUNDS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;

		struct thing *thing = &things[random >> 40 & (count - 1)];
		uint64_t hash = hash_seeded_u64(thing->key, 7) & hash_bits;

		assert_ptr_equal(find(index, hash, thing->key), thing->is_in ? thing : NULL);
		/* more keys are added in the first half and removed in the second */
		if (!thing->is_in)
			*index_at(NULL, index, hash, each, each == thing) = thing;
		else if ((random >> 20 & 3) < (i < ROUNDS / 2 ? 1 : 3))
			index_remove(index, index_find(index, hash, each, each == thing));
		else
			continue;
		thing->is_in = !thing->is_in;
	}
}

static void holds_exactly_the_keys_that_were_added_and_not_removed(void **state)
{
	static const struct {
		size_t count;
		uint64_t hash_bits; /* few bits: keys collide, and runs of slots wrap around */
	} rows[] = { { THINGS, UINT64_MAX }, { 256, 0xff }, { 16, 0x1f } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		thing_index index = { 0 };
		size_t len = 0, visited = 0;
		struct thing *things = heap_array(struct thing, rows[i].count);

		for (size_t k = 0; k < rows[i].count; k++)
			things[k].key = k;
		change_at_random(&index, things, rows[i].count, rows[i].hash_bits);
		for (size_t k = 0; k < rows[i].count; k++)
			len += things[k].is_in;
		assert_true(index.len == len);
		index_for_each(&index, each) {
			assert_true((*each)->is_in);
			(*each)->is_in = false;
			visited++;
		}
		assert_true(visited == len);
		free(things);
		index_done(&index);
	}
}

static void keeps_only_the_items_of_the_condition(void **state)
{
	INDEX(uint64_t) index = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++)
		*index_at(NULL, &index, i * 13, each, each == i) = i;
	index_keep(&index, each, each % 3 == 0);
	assert_true(index.len == 333);
	for (uint64_t i = 1; i <= 1000; i++)
		assert_int_equal(index_find(&index, i * 13, each, each == i) != NULL, i % 3 == 0);
	index_clear(&index);
	assert_true(index.len == 0 && !index_find(&index, 39, each, each == 3));
	index_done(&index);
}

static void distinguishes_keys_of_one_hash(void **state)
{
	AUTO_ARENA arena = { 0 };
	INDEX(uint32_t) index = { 0 };

	(void)state;
	for (uint32_t i = 1; i <= 100; i++)
		*index_at(&arena, &index, 0, each, each == i) = i;
	for (uint32_t i = 1; i <= 100; i++) {
		const uint32_t *found = index_find(&index, 0, each, each == i);

		assert_true(found && *found == i);
	}
	assert_null(index_find(&index, 0, each, each == 101));
	assert_true(index.len == 100);
}

static void reserves_room_at_once(void **state)
{
	AUTO_ARENA arena = { 0 };
	INDEX(uint32_t) index = { 0 };

	(void)state;
	index_reserve(&arena, &index, 1000);

	size_t cap = index.cap;

	for (uint32_t i = 1; i <= 1000; i++)
		*index_at(&arena, &index, i, each, each == i) = i;
	assert_true(index.cap == cap && index.len == 1000);
}

static void an_empty_index_finds_nothing(void **state)
{
	INDEX(uint32_t) index = { 0 };

	(void)state;
	assert_null(index_find(&index, 1, each, each == 1));
	index_for_each(&index, each)
		fail();
	index_keep(&index, each, each == 0);
	index_clear(&index);
	index_done(&index);
}

RUN_TESTS(TEST(holds_exactly_the_keys_that_were_added_and_not_removed),
	  TEST(keeps_only_the_items_of_the_condition), TEST(distinguishes_keys_of_one_hash),
	  TEST(reserves_room_at_once), TEST(an_empty_index_finds_nothing))
