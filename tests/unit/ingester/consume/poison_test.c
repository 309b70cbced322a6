// SPDX-License-Identifier: Apache-2.0
#include "ingester/consume/poison_internal.h"
#include "support/test.h"

#include <string.h>

enum { PARTITIONS_MAX = 4, MESSAGES_MAX = 1024 };

/* A topic, how much of it is stored, and an ingester that follows
 * ingester/consume/poison_internal.h. */
struct world {
	struct poison poison;
	size_t partitions, len[PARTITIONS_MAX], stored[PARTITIONS_MAX];
	bool is_bad[PARTITIONS_MAX][MESSAGES_MAX];
	size_t rejected, flushes, most; /* most: messages of the largest flush that was stored */
	uint32_t chance;
};

static uint32_t random_below(struct world *world, size_t below)
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

/* Read after the stored messages, partitions in random order, up to the limit of one flush. */
static void flush_once(struct world *world)
{
	size_t next[PARTITIONS_MAX], buffered = 0, partition = 0;
	size_t all = left(world), limit = world->poison.limit;
	bool is_rejected = false;

	memcpy(next, world->stored, sizeof(next));
	for (; buffered < all && (!limit || buffered < limit); buffered++) {
		struct poison_message *found;

		do
			partition = random_below(world, world->partitions);
		while (next[partition] == world->len[partition]);
		found = poison_find(&world->poison, (int32_t)partition, (int64_t)next[partition]);
		if (found && !found->is_reported) {
			found->is_reported = true;
			world->rejected++;
		}
		if (!found)
			is_rejected |= world->is_bad[partition][next[partition]];
		next[partition]++;
	}
	world->flushes++;
	if (is_rejected) {
		assert_int_not_equal(poison_flush_rejected(&world->poison, buffered,
							   (int32_t)partition,
							   (int64_t)next[partition] - 1),
				     POISON_NOT_FOUND);
		return;
	}
	for (size_t i = 0; i < world->partitions; i++) {
		poison_advance(&world->poison, (int32_t)i, (int64_t)next[i]);
		world->stored[i] = next[i];
	}
	poison_flush_stored(&world->poison, buffered);
	world->most = buffered > world->most ? buffered : world->most;
}

static void run(struct world *world)
{
	while (left(world)) {
		assert_true(world->flushes < 100000);
		flush_once(world);
	}
}

static void finds_one_among_512_in_log2_flushes(void **state)
{
	(void)state;
	for (size_t at = 0; at < 512; at++) {
		struct world world = { .partitions = 1, .len = { 512 } };

		world.is_bad[0][at] = true;
		run(&world);

		assert_int_equal(world.rejected, 1);
		/* the rejected flush, nine halves, the poison message alone, and the remainder */
		assert_in_range(world.flushes, 1, 1 + 9 + 1 + 1);
	}
}

static void finds_several_in_one_flush_in_log2_flushes_each(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 200; seed++) {
		struct world world = { .partitions = 1, .len = { 1000 }, .chance = seed };
		size_t bad = 1 + seed % 9;

		for (size_t i = 0; i < bad;) {
			bool *is_bad = &world.is_bad[0][random_below(&world, 1000)];

			i += !*is_bad;
			*is_bad = true;
		}
		run(&world);

		assert_int_equal(world.rejected, bad);
		assert_in_range(world.flushes, 1, bad * (1 + 10 + 1) + 1);
	}
}

static void finds_all_in_any_order_of_the_partitions(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 200; seed++) {
		struct world world = { .partitions = 4,
				       .len = { 300, 1, 70, 129 },
				       .chance = seed };

		world.is_bad[0][random_below(&world, 300)] = true;
		world.is_bad[1][0] = true;
		world.is_bad[2][69] = true;
		world.is_bad[3][0] = world.is_bad[3][1] = true;
		run(&world);

		assert_int_equal(world.rejected, 5);
		assert_in_range(world.flushes, 1, 200); /* a linear search would need 500 or more */
	}
}

static void flushes_without_a_limit_after_the_last_one(void **state)
{
	struct world world = { .partitions = 1, .len = { 800 } };

	(void)state;
	world.is_bad[0][0] = true;
	run(&world);

	assert_int_equal(world.most, 800);
	assert_int_equal(world.poison.limit, 0);
}

static void finds_more_than_it_can_remember(void **state)
{
	struct world world = { .partitions = 1, .len = { 600 } };

	(void)state;
	for (size_t i = 0; i < 2 * POISON_MESSAGES_MAX; i++)
		world.is_bad[0][600 - 1 - i] = true;
	run(&world);

	assert_true(world.rejected >= 2 * POISON_MESSAGES_MAX);
}

static void a_rejected_message_is_not_searched_for_again(void **state)
{
	struct poison poison = { 0 };

	(void)state;
	assert_int_equal(poison_flush_rejected(&poison, 1, 4, 5), POISON_FOUND);
	assert_int_equal(poison_flush_rejected(&poison, 1, 4, 5), POISON_NOT_FOUND);
}

static void a_rejected_flush_without_messages_finds_no_message(void **state)
{
	struct poison poison = { 0 };

	(void)state;
	assert_int_equal(poison_flush_rejected(&poison, 0, 4, 5), POISON_NOT_FOUND);
	assert_int_equal(poison.limit, 0);
}

static void forgets_only_messages_below_the_stored_offset(void **state)
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

RUN_TESTS(TEST(finds_one_among_512_in_log2_flushes),
	  TEST(finds_several_in_one_flush_in_log2_flushes_each),
	  TEST(finds_all_in_any_order_of_the_partitions),
	  TEST(flushes_without_a_limit_after_the_last_one), TEST(finds_more_than_it_can_remember),
	  TEST(a_rejected_message_is_not_searched_for_again),
	  TEST(a_rejected_flush_without_messages_finds_no_message),
	  TEST(forgets_only_messages_below_the_stored_offset))
