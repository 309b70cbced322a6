// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/report/build_lists_internal.h"
#include "querier/report/flame_symbols_internal.h"
#include "support/test.h"

#include <stdio.h>

static const struct group_by ungrouped;
static struct err err;

/* A frame of a test; NULL is an empty text. */
struct test_frame {
	const char *function, *path, *build_id, *file;
	uint64_t address;
};

struct side {
	const struct test_frame *frames;
	size_t count;
};

#define SIDE(frames)                      \
	{                                 \
		frames, ARRAY_LEN(frames) \
	}

static void make_merge(struct merge *merge, struct side side, struct arena *arena)
{
	struct sample_set row;

	merge_init(merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, arena);
	sample_set_init(&row, arena);
	sample_set_series(&row, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 0);
	for (size_t i = 0; i < side.count; i++) {
		const struct test_frame *from = &side.frames[i];
		uint32_t frame = sample_set_frame(
			&row, &(struct frame){ .function = str_from(from->function),
					       .path = str_from(from->path),
					       .build_id = str_from(from->build_id),
					       .file = str_from(from->file),
					       .address = from->address });

		sample_set_add(&row, (struct sample){ .stack = sample_set_stack(&row, &frame, 1),
						      .value = 1 });
	}
	assert_true(merge_add_row(merge, &row, &err));
}

static void make(struct flame_symbols *symbols, enum frame_identity identity,
		 const struct side *sides, size_t count, struct arena *arena)
{
	struct merge *merges[FLAME_SIDES_MAX];

	for (size_t i = 0; i < count; i++) {
		merges[i] = arena_array(arena, struct merge, 1);
		make_merge(merges[i], sides[i], arena);
	}
	assert_true(flame_symbols_make(symbols, merges, count, identity, arena, &err));
}

/* The symbols as "name binary file" each, except [no stack], which is always there. */
static void assert_symbols_are(const struct flame_symbols *symbols, const char *expected)
{
	AUTO_ARENA arena = { 0 };
	struct buf text = { .arena = &arena };

	for (size_t i = 0; i < symbols->len; i++) {
		const struct flame_symbol *symbol = &symbols->items[i];

		if (!str_eq(symbol->name, STR("[no stack]")))
			buf_format(&text, STR_FMT "|" STR_FMT "|" STR_FMT " ",
				   STR_ARG(symbol->name), STR_ARG(symbol->binary),
				   STR_ARG(symbol->file));
	}
	assert_string_equal(str_z(&arena, buf_bytes(&text)), expected);
}

static const struct test_frame release_1[] = {
	{ "discount", "/releases/1/shop", "01", "/build/1/src/price.cc", 0 },
	{ "SSL_read", "/usr/lib/libssl.so.1.1", "0a", NULL, 0 },
};
static const struct test_frame release_2[] = {
	{ "discount", "/releases/2/shop", "02", "/build/2/src/price.cc", 0 },
	{ "SSL_read", "/usr/lib/libssl.so.3", "0b", NULL, 0 },
};
static const struct side releases[] = { SIDE(release_1), SIDE(release_2) };

static void a_function_is_one_symbol_in_two_builds_at_two_paths(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;

	(void)state;
	make(&symbols, FRAME_OF_BINARY, releases, 2, &arena);
	assert_symbols_are(&symbols, "SSL_read|libssl.so| discount|shop|/build/1/src/price.cc ");
	assert_int_equal(symbols.of_frame[0][0], symbols.of_frame[1][0]);
	assert_int_equal(symbols.of_frame[0][1], symbols.of_frame[1][1]);
	assert_int_equal(symbols.items[symbols.of_frame[0][0]].build_count, 2);
}

static void by_path_or_address_the_builds_are_apart(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;

	(void)state;
	make(&symbols, FRAME_OF_PATH, releases, 2, &arena);
	assert_symbols_are(&symbols, "SSL_read|/usr/lib/libssl.so.1.1| "
				     "SSL_read|/usr/lib/libssl.so.3| "
				     "discount|/releases/1/shop|/build/1/src/price.cc "
				     "discount|/releases/2/shop|/build/2/src/price.cc ");
}

static void by_function_only_the_name_counts(void **state)
{
	static const struct test_frame frames[] = {
		{ "main", "/bin/a", "01", "a.c", 0 },
		{ "main", "/bin/b", "02", "b.c", 0 },
		{ "walk", "/bin/b", "02", "b.c", 0 },
	};
	static const struct side side = SIDE(frames);
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;

	(void)state;
	make(&symbols, FRAME_OF_FUNCTION, &side, 1, &arena);
	assert_symbols_are(&symbols, "main||a.c walk|b|b.c ");
}

static void by_address_each_address_of_a_build_is_a_symbol(void **state)
{
	static const struct test_frame frames[] = {
		{ "main", "/bin/a", "01", "a.c", 0x10 },
		{ "main", "/bin/a", "01", "a.c", 0x14 },
		{ "main", "/bin/a", "02", "a.c", 0x14 },
	};
	static const struct side side = SIDE(frames);
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;

	(void)state;
	make(&symbols, FRAME_OF_ADDRESS, &side, 1, &arena);
	assert_symbols_are(&symbols, "main|/bin/a|a.c main|/bin/a|a.c main|/bin/a|a.c ");
	assert_true(str_eq(symbols.items[symbols.of_frame[0][1]].address, STR("0x14")));
	assert_true(str_eq(symbols.items[symbols.of_frame[0][2]].build_id, STR("02")));
}

static void files_distinguish_functions_of_one_name_in_one_build_only(void **state)
{
	/* Both builds have two functions `init`; their directories differ. */
	static const struct test_frame before[] = {
		{ "init", "/bin/a", "01", "/build/1/net/init.c", 0 },
		{ "init", "/bin/a", "01", "/build/1/disk/init.c", 0 },
		{ "read", "/bin/a", "01", "/build/1/disk/read.c", 0 },
	};
	static const struct test_frame after[] = {
		{ "init", "/bin/a", "02", "/build/2/net/init.c", 0 },
		{ "init", "/bin/a", "02", "/build/2/disk/init.c", 0 },
		{ "read", "/bin/a", "02", "/build/2/disk/moved.c", 0 },
	};
	static const struct side sides[] = { SIDE(before), SIDE(after) };
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;

	(void)state;
	make(&symbols, FRAME_OF_BINARY, sides, 2, &arena);
	assert_symbols_are(&symbols, "init|a|/build/1/disk/init.c init|a|/build/1/net/init.c "
				     "read|a|/build/1/disk/read.c ");
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		assert_int_equal(symbols.of_frame[0][i], symbols.of_frame[1][i]);
}

static void as_many_components_as_distinguish_the_files_of_a_build_count(void **state)
{
	static const struct test_frame frames[] = {
		{ "f", "/bin/a", "01", "x.c", 0 },      { "f", "/bin/a", "01", "s/x.c", 0 },
		{ "f", "/bin/a", "01", "/r/s/x.c", 0 }, { "f", "/bin/a", "01", "/q/s/x.c", 0 },
		{ "f", "/bin/a", "01", NULL, 0 },       { "f", "/bin/a", "01", "xx.c", 0 },
	};
	static const struct side side = SIDE(frames);
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;

	(void)state;
	make(&symbols, FRAME_OF_BINARY, &side, 1, &arena);
	assert_int_equal(symbols.len, ARRAY_LEN(frames) + 1);
}

static void an_address_without_a_function_is_one_of_its_build(void **state)
{
	static const struct test_frame frames[] = {
		{ NULL, "/opt/1/a", "01", NULL, 0x1f },
		{ NULL, "/opt/2/a", "01", NULL, 0x1f },
		{ NULL, "/opt/2/a", "02", NULL, 0x1f },
		/* A function with such a name is another symbol. */
		{ "a+0x1f", "/opt/2/a", "02", NULL, 0 },
	};
	static const struct side side = SIDE(frames);
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;

	(void)state;
	make(&symbols, FRAME_OF_BINARY, &side, 1, &arena);
	assert_symbols_are(&symbols, "a+0x1f|a| a+0x1f|a| a+0x1f|a| ");
	assert_int_equal(symbols.of_frame[0][0], symbols.of_frame[0][1]);
	assert_true(symbols.of_frame[0][1] != symbols.of_frame[0][2]);
	assert_true(symbols.of_frame[0][2] != symbols.of_frame[0][3]);
}

static void equal_builds_are_listed_once_and_equal_lists_are_one(void **state)
{
	static const struct test_frame frames[] = {
		{ "f", "/2/a", "01", "f.c", 0 }, { "f", "/1/a", "02", "f.c", 0 },
		{ "g", "/1/a", "02", "g.c", 0 }, { "g", "/2/a", "01", "g.c", 0 },
		{ "h", "/1/a", "02", "h.c", 0 },
	};
	static const struct side side = SIDE(frames);
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;
	struct build_lists lists;
	uint32_t of[ARRAY_LEN(frames)];

	(void)state;
	make(&symbols, FRAME_OF_BINARY, &side, 1, &arena);
	build_lists_init(&lists, &arena);
	for (size_t i = 0; i < ARRAY_LEN(frames); i++)
		of[i] = build_lists_add(&lists, &symbols.items[symbols.of_frame[0][i]]);
	assert_int_equal(build_lists_add(&lists, &symbols.items[symbols.no_stack]), 0);
	assert_int_equal(lists.items.len, 3);
	assert_int_equal(of[0], of[2]);
	assert_true(of[0] != of[4]);
	assert_int_equal(lists.items.items[of[0]].count, 2);
	assert_true(str_eq(lists.items.items[of[0]].builds[0].path, STR("/1/a")));
	assert_true(str_eq(lists.items.items[of[0]].builds[1].build_id, STR("01")));
	assert_int_equal(lists.left_out, 0);
}

static void a_list_has_a_bound_and_counts_what_it_leaves_out(void **state)
{
	struct test_frame frames[BUILDS_OF_SYMBOL_MAX + 5];
	char paths[ARRAY_LEN(frames)][16];
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;
	struct build_lists lists;
	uint32_t list;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
		snprintf(paths[i], sizeof(paths[i]), "/%02zu/a", i);
		frames[i] = (struct test_frame){ .function = "f", .path = paths[i] };
	}
	make(&symbols, FRAME_OF_BINARY, &(struct side){ frames, ARRAY_LEN(frames) }, 1, &arena);
	build_lists_init(&lists, &arena);
	list = build_lists_add(&lists, &symbols.items[symbols.of_frame[0][0]]);
	assert_int_equal(lists.items.items[list].count, BUILDS_OF_SYMBOL_MAX);
	assert_int_equal(lists.left_out, 5);
}

RUN_TESTS(TEST(a_function_is_one_symbol_in_two_builds_at_two_paths),
	  TEST(by_path_or_address_the_builds_are_apart), TEST(by_function_only_the_name_counts),
	  TEST(by_address_each_address_of_a_build_is_a_symbol),
	  TEST(files_distinguish_functions_of_one_name_in_one_build_only),
	  TEST(as_many_components_as_distinguish_the_files_of_a_build_count),
	  TEST(an_address_without_a_function_is_one_of_its_build),
	  TEST(equal_builds_are_listed_once_and_equal_lists_are_one),
	  TEST(a_list_has_a_bound_and_counts_what_it_leaves_out))
