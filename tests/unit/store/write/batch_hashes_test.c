// SPDX-License-Identifier: Apache-2.0
#include "store/write/batch_hashes.h"
#include "support/test.h"

enum { MAX = BATCH_HASHES_MAX };

/* Receives the numbers in order; the hash of a number is the number plus 1. */
static uint64_t receive(struct batch_hashes *hashes, const uint64_t *numbers, size_t count,
			struct arena *arena)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < count; i++) {
		batch_hashes_add(hashes, highest, numbers[i], (uint32_t)numbers[i] + 1, arena);
		highest = numbers[i] > highest ? numbers[i] : highest;
	}
	return highest;
}

static void tells_a_conflict_from_a_duplicate(void **state)
{
	static const struct {
		const char *what;
		uint64_t received[4];
		size_t count;
		uint64_t sequence;
		bool is_known;
	} rows[] = {
		{ "nothing was received", { 0 }, 0, 1, false },
		{ "the newest batch", { 1, 2 }, 2, 2, true },
		{ "an older batch", { 1, 2 }, 2, 1, true },
		{ "a number that was not received", { 1 }, 1, 2, false },
		{ "a late batch", { 1, 9, 4 }, 3, 4, true },
		{ "a number that was skipped", { 1, 9 }, 2, 4, false },
		{ "the oldest that has a slot", { 1, MAX }, 2, 1, true },
		{ "one that has no slot any more", { 1, MAX + 1 }, 2, 1, false },
		{ "a skipped number in the slot of an older batch",
		  { 1, MAX - 1, 2 * MAX - 2 },
		  3,
		  MAX + 1,
		  false },
		{ "a jump over all slots", { 1, 2, 10 * MAX }, 3, 9 * MAX + 2, false },
		{ "the batch after such a jump", { 1, UINT32_MAX }, 2, UINT32_MAX - 1, false },
		{ "a late batch too old for a slot", { 3 * MAX, 7 }, 2, 7, false },
		{ "and it takes no slot of another", { 3 * MAX, 2 * MAX }, 2, 3 * MAX, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct batch_hashes hashes = { 0 }, read;
		uint64_t highest = receive(&hashes, rows[i].received, rows[i].count, &arena);
		uint32_t own = (uint32_t)rows[i].sequence + 1;

		print_message("# %s\n", rows[i].what);
		assert_int_equal(batch_hashes_differ(&hashes, highest, rows[i].sequence, own + 1),
				 rows[i].is_known);
		assert_false(batch_hashes_differ(&hashes, highest, rows[i].sequence, own) &&
			     rows[i].is_known);

		batch_hashes_read(&read, batch_hashes_bytes(&hashes, highest, &arena), &arena);
		assert_int_equal(batch_hashes_differ(&read, highest, rows[i].sequence, own + 1),
				 rows[i].is_known);
	}
}

static void stores_no_more_slots_than_are_in_use(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct batch_hashes hashes = { 0 };

	(void)state;
	assert_int_equal(batch_hashes_bytes(&hashes, 7, &arena).len, 0);
	batch_hashes_add(&hashes, 0, 1, 5, &arena);
	assert_int_equal(batch_hashes_bytes(&hashes, 1, &arena).len, 2 * sizeof(uint32_t));
	assert_int_equal(batch_hashes_bytes(&hashes, MAX, &arena).len, MAX * sizeof(uint32_t));
	assert_int_equal(batch_hashes_bytes(&hashes, UINT64_MAX, &arena).len,
			 MAX * sizeof(uint32_t));
}

static void a_malformed_column_is_unknown_hashes(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct batch_hashes hashes;

	(void)state;
	batch_hashes_read(&hashes, STR("\0\0\0\0\1\0\0\0\2\0"), &arena);
	assert_true(batch_hashes_differ(&hashes, 2, 1, 7));
	assert_false(batch_hashes_differ(&hashes, 2, 2, 7));
}

static void the_hash_depends_on_all_contents_and_is_never_0(void **state)
{
	(void)state;
	assert_int_equal(batch_hash(STR("a")), batch_hash(STR("a")));
	assert_int_not_equal(batch_hash(STR("a")), batch_hash(STR("b")));
	assert_int_not_equal(batch_hash(STR("")), 0);
}

RUN_TESTS(TEST(tells_a_conflict_from_a_duplicate), TEST(stores_no_more_slots_than_are_in_use),
	  TEST(a_malformed_column_is_unknown_hashes),
	  TEST(the_hash_depends_on_all_contents_and_is_never_0))
