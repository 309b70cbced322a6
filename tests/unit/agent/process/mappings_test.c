// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/mappings.h"
#include "support/test.h"

static struct executable files[3];

static void insert(struct mappings *mappings, uint64_t start, uint64_t end, uint64_t offset,
		   int file)
{
	assert_true(
		mappings_insert(mappings, (struct mapping){ start, end, offset,
							    executable_reference(&files[file]) }));
}

static void replaces_what_a_new_mapping_covers(void **state)
{
	static const struct {
		uint64_t start, end; /* of the new one, over 0x1000-0x2000, 0x3000-0x5000 */
		size_t len;
		struct {
			uint64_t address, start, offset;
			int file; /* -1: no mapping */
		} finds[3];
	} rows[] = {
		{ 0x2000,
		  0x3000,
		  3,
		  { { 0x1fff, 0x1000, 0, 0 },
		    { 0x2000, 0x2000, 0, 2 },
		    { 0x3000, 0x3000, 0x10000, 1 } } },
		{ 0x1800,
		  0x3800,
		  3,
		  { { 0x17ff, 0x1000, 0, 0 },
		    { 0x1800, 0x1800, 0, 2 },
		    { 0x3800, 0x3800, 0x10800, 1 } } },
		{ 0x3800,
		  0x4000,
		  4,
		  { { 0x37ff, 0x3000, 0x10000, 1 },
		    { 0x3800, 0x3800, 0, 2 },
		    { 0x4000, 0x4000, 0x11000, 1 } } },
		{ 0x1000,
		  0x2000,
		  2,
		  { { 0x1000, 0x1000, 0, 2 },
		    { 0x2000, 0, 0, -1 },
		    { 0x4fff, 0x3000, 0x10000, 1 } } },
		{ 0x0000,
		  0x9000,
		  1,
		  { { 0x0000, 0x0000, 0, 2 }, { 0x8fff, 0x0000, 0, 2 }, { 0x9000, 0, 0, -1 } } },
		{ 0x7000,
		  0x8000,
		  3,
		  { { 0x6fff, 0, 0, -1 }, { 0x7000, 0x7000, 0, 2 }, { 0x1000, 0x1000, 0, 0 } } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct mappings mappings = { 0 };

		insert(&mappings, 0x3000, 0x5000, 0x10000, 1);
		insert(&mappings, 0x1000, 0x2000, 0, 0);
		insert(&mappings, rows[i].start, rows[i].end, 0, 2);
		assert_int_equal(mappings.len, rows[i].len);
		for (size_t j = 0; j < ARRAY_LEN(rows[i].finds); j++) {
			const struct mapping *found =
				mappings_find(&mappings, rows[i].finds[j].address);

			if (rows[i].finds[j].file < 0) {
				assert_null(found);
				continue;
			}
			assert_non_null(found);
			assert_int_equal(found->start, rows[i].finds[j].start);
			assert_int_equal(found->file_offset, rows[i].finds[j].offset);
			assert_ptr_equal(found->executable, &files[rows[i].finds[j].file]);
		}
		mappings_done(&mappings);
		for (size_t file = 0; file < ARRAY_LEN(files); file++)
			assert_int_equal(files[file].references, 0);
	}
}

static void copies_hold_references_of_their_own(void **state)
{
	struct mappings first = { 0 }, second;

	(void)state;
	insert(&first, 0x1000, 0x2000, 0, 0);
	mappings_copy(&second, &first);
	assert_int_equal(files[0].references, 2);
	mappings_done(&first);
	assert_ptr_equal(mappings_find(&second, 0x1000)->executable, &files[0]);
	mappings_done(&second);
	assert_int_equal(files[0].references, 0);
}

static void is_bounded(void **state)
{
	struct mappings mappings = { 0 };
	size_t kept = 0;

	(void)state;
	for (uint64_t i = 1; i <= MAPPINGS_MAX + 10; i++)
		kept += mappings_insert(&mappings, (struct mapping){ i * 16, i * 16 + 8, 0, NULL });
	assert_true(kept <= MAPPINGS_MAX && kept >= MAPPINGS_MAX - 2);
	assert_false(mappings_insert(&mappings, (struct mapping){ 8, 8, 0, NULL }));
	mappings_done(&mappings);
}

static void detects_code_that_replaces_code_of_another_file(void **state)
{
	static const struct {
		uint64_t start, end;
		int file; /* -1: none */
		bool recasts;
	} rows[] = {
		{ 0x1000, 0x2000, 1, true },  { 0x1800, 0x1801, 1, true },
		{ 0x0000, 0x9000, 1, true },  { 0x1000, 0x2000, 0, false },
		{ 0x0000, 0x1000, 1, false }, { 0x2000, 0x3000, 1, false },
		{ 0x5000, 0x6000, 1, false }, { 0x1000, 0x2000, -1, false },
	};
	struct mappings mappings = { 0 };

	(void)state;
	insert(&mappings, 0x1000, 0x2000, 0, 0);
	assert_true(mappings_insert(&mappings, (struct mapping){ 0x5000, 0x6000, 0, NULL }));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct executable *file = rows[i].file < 0 ? NULL : &files[rows[i].file];
		struct mapping mapping = { rows[i].start, rows[i].end, 0, file };

		assert_int_equal(mappings_replaces_code(&mappings, &mapping), rows[i].recasts);
	}
	mappings_done(&mappings);
}

static void equal_are_the_same_files_at_the_same_addresses(void **state)
{
	static const struct {
		uint64_t start, end, offset;
		int file;
		bool is_equal;
	} rows[] = {
		{ 0x1000, 0x2000, 0, 0, true },  { 0x1001, 0x2000, 0, 0, false },
		{ 0x1000, 0x2001, 0, 0, false }, { 0x1000, 0x2000, 0x1000, 0, false },
		{ 0x1000, 0x2000, 0, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct mappings a = { 0 }, b = { 0 };

		insert(&a, 0x1000, 0x2000, 0, 0);
		assert_false(mappings_equal(&a, &b));
		insert(&b, rows[i].start, rows[i].end, rows[i].offset, rows[i].file);
		assert_int_equal(mappings_equal(&a, &b), rows[i].is_equal);
		mappings_done(&a);
		mappings_done(&b);
	}
}

RUN_TESTS(TEST(replaces_what_a_new_mapping_covers), TEST(copies_hold_references_of_their_own),
	  TEST(detects_code_that_replaces_code_of_another_file), TEST(is_bounded),
	  TEST(equal_are_the_same_files_at_the_same_addresses))
