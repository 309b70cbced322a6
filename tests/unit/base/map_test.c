// SPDX-License-Identifier: Apache-2.0
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

static void finds_inserted_keys_after_growing(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct map map = { .arena = &arena };

	(void)state;
	for (uintptr_t i = 1; i <= 10000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "k%ju", (uintmax_t)i);
		*map_at(&map, str_from(str_z(&arena, str_from(text)))) = (void *)i;
	}
	assert_true(map.len == 10000);
	assert_ptr_equal(map_get(&map, STR("k1")), (void *)1);
	assert_ptr_equal(map_get(&map, STR("k10000")), (void *)10000);
	assert_null(map_get(&map, STR("k10001")));
}

static void finds_the_empty_key(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct map map = { .arena = &arena };
	size_t visited = 0;

	(void)state;
	*map_at(&map, (str){ 0 }) = &map;
	assert_ptr_equal(map_get(&map, (str){ 0 }), &map);
	assert_ptr_equal(map_get(&map, STR("")), &map);
	assert_ptr_equal(*map_at(&map, STR("")), &map);
	map_for_each(&map, entry)
		visited++;
	assert_true(map.len == 1 && visited == 1);
}

static void vec_keeps_items_across_growth(void **state)
{
	AUTO_ARENA arena = { 0 };
	VEC(uint64_t) v = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		*vec_push(&arena, &v) = i;
	assert_true(v.len == 1000 && v.items[0] == 0 && v.items[999] == 999);
	arena_reset(&arena);
}

static void wrap_prefixes_the_operation_of_the_caller(void **state)
{
	struct err err;

	(void)state;
	errno = EACCES;
	assert_false(err_errno(&err, "open %s", "/x"));
	assert_false(err_wrap(&err, "load %s", "app"));
	assert_string_equal(err.msg, "load app: open /x: Permission denied");
	assert_int_equal(err.code, ERR_IO);
}

RUN_TESTS(TEST(finds_inserted_keys_after_growing), TEST(finds_the_empty_key),
	  TEST(vec_keeps_items_across_growth), TEST(wrap_prefixes_the_operation_of_the_caller))
