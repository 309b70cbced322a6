// SPDX-License-Identifier: Apache-2.0
#include "../../services/ingester/poison.h"
#include "test.h"

#include <string.h>

enum { PARTITIONS_MAX = 4, MESSAGES_MAX = 1024 };

/* A topic, what is stored of it, and an ingester that reads it as poison.h wants. */
struct world {
	struct poison poison;
	size_t partitions, len[PARTITIONS_MAX], stored[PARTITIONS_MAX];
	bool is_bad[PARTITIONS_MAX][MESSAGES_MAX];
	size_t rejected, flushes, most; /* most: messages of the largest flush that was stored */
	uint32_t chance;
};

static uint32_t draw(struct world *world, size_t below)
{
	world->chance = world->chance * 1664525u + 1013904223u;
	return (world->chance >> 8) % (uint32_t)below;
}

static size_t left(const struct world *world)
{
	size_t messages = 0;

	for (size_t i = 0; i < world->partitions; i++)
		messages += world->len[i] - world->stored[i];
	return messages;
}

/* Read from what is stored, partitions in an order of chance, as many as may be flushed at once. */
static void flush_once(struct world *world)
{
	size_t next[PARTITIONS_MAX], held = 0, partition = 0;
	size_t all = left(world), limit = world->poison.limit;
	bool is_refused = false;

	memcpy(next, world->stored, sizeof(next));
	for (; held < all && (!limit || held < limit); held++) {
		struct poison_message *found;

		do
			partition = draw(world, world->partitions);
		while (next[partition] == world->len[partition]);
		found = poison_find(&world->poison, (int32_t)partition, (int64_t)next[partition]);
		if (found && !found->is_reported) {
			found->is_reported = true;
			world->rejected++;
		}
		if (!found)
			is_refused |= world->is_bad[partition][next[partition]];
		next[partition]++;
	}
	world->flushes++;
	if (is_refused) {
		assert_int_not_equal(poison_flush_rejected(&world->poison, held, (int32_t)partition,
							   (int64_t)next[partition] - 1),
				     POISON_NOT_FOUND);
		return;
	}
	for (size_t i = 0; i < world->partitions; i++) {
		poison_advance(&world->poison, (int32_t)i, (int64_t)next[i]);
		world->stored[i] = next[i];
	}
	poison_flush_stored(&world->poison, held);
	world->most = held > world->most ? held : world->most;
}

static void run(struct world *world)
{
	while (left(world)) {
		assert_true(world->flushes < 100000);
		flush_once(world);
	}
}

static void finds_one_among_512_in_as_many_flushes_as_its_logarithm(void **state)
{
	(void)state;
	for (size_t at = 0; at < 512; at++) {
		struct world world = { .partitions = 1, .len = { 512 } };

		world.is_bad[0][at] = true;
		run(&world);

		assert_int_equal(world.rejected, 1);
		/* the refused one, nine halves, the culprit alone, and the rest */
		assert_in_range(world.flushes, 1, 1 + 9 + 1 + 1);
	}
}

static void finds_several_of_one_flush_each_by_its_logarithm(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 200; seed++) {
		struct world world = { .partitions = 1, .len = { 1000 }, .chance = seed };
		size_t bad = 1 + seed % 9;

		for (size_t i = 0; i < bad;) {
			bool *is_bad = &world.is_bad[0][draw(&world, 1000)];

			i += !*is_bad;
			*is_bad = true;
		}
		run(&world);

		assert_int_equal(world.rejected, bad);
		assert_in_range(world.flushes, 1, bad * (1 + 10 + 1) + 1);
	}
}

static void finds_all_in_whatever_order_partitions_are_read(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 200; seed++) {
		struct world world = { .partitions = 4,
				       .len = { 300, 1, 70, 129 },
				       .chance = seed };

		world.is_bad[0][draw(&world, 300)] = true;
		world.is_bad[1][0] = true;
		world.is_bad[2][69] = true;
		world.is_bad[3][0] = world.is_bad[3][1] = true;
		run(&world);

		assert_int_equal(world.rejected, 5);
		assert_in_range(world.flushes, 1, 200); /* one by one it would be 500 and more */
	}
}

static void goes_back_to_whole_flushes_after_the_last_one(void **state)
{
	struct world world = { .partitions = 1, .len = { 800 } };

	(void)state;
	world.is_bad[0][0] = true;
	run(&world);

	assert_int_equal(world.most, 800);
	assert_int_equal(world.poison.limit, 0);
}

static void more_than_are_remembered_are_found_all_the_same(void **state)
{
	struct world world = { .partitions = 1, .len = { 600 } };

	(void)state;
	for (size_t i = 0; i < 2 * POISON_MESSAGES_MAX; i++)
		world.is_bad[0][600 - 1 - i] = true;
	run(&world);

	assert_true(world.rejected >= 2 * POISON_MESSAGES_MAX);
}

static void one_that_was_rejected_in_vain_is_not_searched_for_again(void **state)
{
	struct poison poison = { 0 };

	(void)state;
	assert_int_equal(poison_flush_rejected(&poison, 1, 4, 5), POISON_FOUND);
	assert_int_equal(poison_flush_rejected(&poison, 1, 4, 5), POISON_NOT_FOUND);
}

static void a_refusal_of_no_message_is_nobodys_fault(void **state)
{
	struct poison poison = { 0 };

	(void)state;
	assert_int_equal(poison_flush_rejected(&poison, 0, 4, 5), POISON_NOT_FOUND);
	assert_int_equal(poison.limit, 0);
}

static void what_is_passed_is_forgotten_and_no_other(void **state)
{
	struct poison poison = { 0 };

	(void)state;
	(void)!poison_flush_rejected(&poison, 1, 0, 7);
	(void)!poison_flush_rejected(&poison, 1, 1, 7);
	(void)!poison_flush_rejected(&poison, 1, 0, 9);

	poison_advance(&poison, 0, 8);

	assert_null(poison_find(&poison, 0, 7));
	assert_non_null(poison_find(&poison, 1, 7));
	assert_non_null(poison_find(&poison, 0, 9));
	assert_null(poison_find(&poison, 0, 8));
}

RUN_TESTS(TEST(finds_one_among_512_in_as_many_flushes_as_its_logarithm),
	  TEST(finds_several_of_one_flush_each_by_its_logarithm),
	  TEST(finds_all_in_whatever_order_partitions_are_read),
	  TEST(goes_back_to_whole_flushes_after_the_last_one),
	  TEST(more_than_are_remembered_are_found_all_the_same),
	  TEST(one_that_was_rejected_in_vain_is_not_searched_for_again),
	  TEST(a_refusal_of_no_message_is_nobodys_fault),
	  TEST(what_is_passed_is_forgotten_and_no_other))
