// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "querier/querier_limits.h"
#include "querier/symbolize/symbol_cache.h"
#include "support/test.h"

static const uint64_t second = NS_PER_SECOND;

/*
 * Put a symbolizer's response: address A is in the function fA, inlined into outer; odd addresses
 * are unknown. The response's memory is freed after the cache has copied it.
 */
static struct cached_binary *put(struct symbol_cache *cache, struct cached_binary *binary,
				 uint64_t generation, uint64_t first, size_t count,
				 uint64_t requested_ns)
{
	AUTO_ARENA arena = { 0 };
	uint64_t *addresses = arena_array(&arena, uint64_t, count);
	struct symbolized_location *locations =
		arena_array(&arena, struct symbolized_location, count);
	size_t grown = 0;

	for (size_t i = 0; i < count; i++) {
		struct symbolized_line *lines = arena_array(&arena, struct symbolized_line, 2);

		addresses[i] = first + i;
		lines[0].function = str_format(&arena, "f%ju", (uintmax_t)addresses[i]);
		lines[0].file = STR("f.c");
		lines[0].line = (uint32_t)addresses[i] + 1;
		lines[0].start_line = 3;
		lines[1].function = lines[1].system_name = STR("outer");
		locations[i].reason = NAME_NO_SYMBOL;
		if (addresses[i] % 2 == 0)
			locations[i] = (struct symbolized_location){ lines, 2, NAME_KNOWN };
	}

	const struct symbolize_binary request = { binary->build_id, addresses, count };
	const struct symbolized_binary response = { generation, NAME_KNOWN, locations, count };

	return symbol_cache_put(cache, binary,
				&(struct symbolize_exchange){ &request, &response, requested_ns },
				&grown);
}

static struct address_lines find(struct cached_binary *binary, uint64_t address, uint64_t now_ns)
{
	struct address_lines name = { .reason = NAME_REASON_COUNT };
	uint32_t missing;

	(void)cached_binary_find(binary, &address, 1, now_ns, &name, &missing);
	return name;
}

static bool knows(struct cached_binary *binary, uint64_t address, uint64_t now_ns)
{
	return find(binary, address, now_ns).reason != NAME_REASON_COUNT;
}

static void stores_responses(void **state)
{
	struct symbol_cache cache;

	(void)state;
	symbol_cache_init(&cache, 1 << 26);

	struct cached_binary *binary = symbol_cache_acquire(&cache, STR("aa"));

	assert_false(knows(binary, 2, second));
	binary = put(&cache, binary, 7, 0, 1000, second);
	for (uint64_t address = 0; address < 1000; address++) {
		struct address_lines name = find(binary, address, second);

		if (address % 2) {
			assert_int_equal(name.len, 0);
			assert_int_equal(name.reason, NAME_NO_SYMBOL);
			continue;
		}
		AUTO_ARENA arena = { 0 };
		const struct function_symbol *function = name.lines[0].function;

		assert_int_equal(name.len, 2);
		assert_int_equal(name.reason, NAME_KNOWN);
		assert_true(
			str_eq(function->function, str_format(&arena, "f%ju", (uintmax_t)address)));
		assert_true(str_eq(function->file, STR("f.c")));
		assert_int_equal(function->start_line, 3);
		assert_int_equal(name.lines[0].line, address + 1);
		assert_true(str_eq(name.lines[1].function->system_name, STR("outer")));
		/* Equal functions are stored once. */
		assert_ptr_equal(name.lines[1].function, find(binary, 0, 0).lines[1].function);
	}
	assert_false(knows(binary, 1000, second));
	symbol_cache_release(&cache, binary);
	binary = symbol_cache_acquire(&cache, STR("aa"));
	assert_true(knows(binary, 998, second));
	symbol_cache_release(&cache, binary);
	symbol_cache_done(&cache);
}

static void another_generation_replaces_all_symbols(void **state)
{
	struct symbol_cache cache;

	(void)state;
	symbol_cache_init(&cache, 1 << 26);

	struct cached_binary *old = symbol_cache_acquire(&cache, STR("aa"));

	old = put(&cache, old, 7, 0, 100, second);

	/* Another query still uses the old one. */
	struct cached_binary *other =
		put(&cache, symbol_cache_acquire(&cache, STR("aa")), 8, 100, 10, 2 * second);

	assert_ptr_not_equal(old, other);
	assert_true(knows(old, 50, second));
	assert_false(knows(other, 50, second));
	assert_true(knows(other, 104, second));
	symbol_cache_release(&cache, old);
	symbol_cache_release(&cache, other);
	other = symbol_cache_acquire(&cache, STR("aa"));
	assert_false(knows(other, 50, second));
	assert_true(knows(other, 104, second));
	symbol_cache_release(&cache, other);
	symbol_cache_done(&cache);
}

static void a_response_that_was_overtaken_serves_only_its_own_query(void **state)
{
	struct symbol_cache cache;

	(void)state;
	symbol_cache_init(&cache, 1 << 26);

	struct cached_binary *late = symbol_cache_acquire(&cache, STR("aa"));
	struct cached_binary *soon =
		put(&cache, symbol_cache_acquire(&cache, STR("aa")), 8, 0, 10, 2 * second);

	late = put(&cache, late, 7, 100, 10, second);
	assert_true(knows(late, 104, second));
	symbol_cache_release(&cache, late);
	symbol_cache_release(&cache, soon);
	soon = symbol_cache_acquire(&cache, STR("aa"));
	assert_true(knows(soon, 4, second));
	assert_false(knows(soon, 104, second));
	symbol_cache_release(&cache, soon);
	symbol_cache_done(&cache);
}

static void a_reason_expires_unless_the_debug_file_is_known(void **state)
{
	const uint64_t later = second + SYMBOLS_FRESH_MS * NS_PER_MS;
	struct symbol_cache cache;

	(void)state;
	symbol_cache_init(&cache, 1 << 26);

	struct cached_binary *known_file =
		put(&cache, symbol_cache_acquire(&cache, STR("aa")), 7, 0, 2, second);
	struct cached_binary *unknown_file =
		put(&cache, symbol_cache_acquire(&cache, STR("bb")), 0, 0, 2, second);

	assert_true(knows(known_file, 1, later));
	assert_true(knows(unknown_file, 1, later - 1));
	assert_false(knows(unknown_file, 1, later));
	assert_true(knows(unknown_file, 0, later));

	/* It is requested again, and now the reason is fresh. */
	unknown_file = put(&cache, unknown_file, 0, 0, 2, later);
	assert_true(knows(unknown_file, 1, later));
	symbol_cache_release(&cache, known_file);
	symbol_cache_release(&cache, unknown_file);
	symbol_cache_done(&cache);
}

static str build_id(struct arena *arena, size_t i)
{
	return str_format(arena, "%02zx", i);
}

static void evicts_the_least_recently_used_and_never_those_in_use(void **state)
{
	enum { MAX = 1 << 20, BINARIES = 100 };
	static const struct {
		size_t binary;
		bool known;
	} lookups[] = { { 0, true },  { 1, true },  { 99, true },
			{ 98, true }, { 2, false }, { 50, false } };
	AUTO_ARENA arena = { 0 };
	struct symbol_cache cache;

	(void)state;
	symbol_cache_init(&cache, MAX);

	struct cached_binary *used =
		put(&cache, symbol_cache_acquire(&cache, build_id(&arena, 0)), 7, 0, 2, second);

	for (size_t i = 1; i < BINARIES; i++) {
		struct cached_binary *binary = symbol_cache_acquire(&cache, build_id(&arena, i));

		binary = put(&cache, binary, 7, 0, 2, second);
		symbol_cache_release(&cache, binary);
		assert_true(cache.bytes <= MAX);
		/* The second binary is used again and again. */
		symbol_cache_release(&cache, symbol_cache_acquire(&cache, build_id(&arena, 1)));
	}
	assert_true(knows(used, 0, second));
	for (size_t i = 0; i < ARRAY_LEN(lookups); i++) {
		struct cached_binary *binary =
			symbol_cache_acquire(&cache, build_id(&arena, lookups[i].binary));

		assert_int_equal(knows(binary, 0, second), lookups[i].known);
		symbol_cache_release(&cache, binary);
	}
	symbol_cache_release(&cache, used);
	symbol_cache_done(&cache);
}

static void a_binary_larger_than_the_cache_lives_while_in_use(void **state)
{
	struct symbol_cache cache;

	(void)state;
	symbol_cache_init(&cache, 1 << 20);

	struct cached_binary *binary =
		put(&cache, symbol_cache_acquire(&cache, STR("aa")), 7, 0, 50000, second);

	assert_true(cache.bytes > 1 << 20);
	assert_true(knows(binary, 49998, second));
	symbol_cache_release(&cache, binary);
	assert_int_equal(cache.bytes, 0);
	symbol_cache_done(&cache);
}

/*
 * Threads use the same few binaries while generations change and the cache is too small: each
 * thread must find in the binary that it acquired what was put into it.
 */
struct shared_cache {
	struct symbol_cache cache;
	_Atomic size_t wrong;
};

static void *query_often(void *self)
{
	struct shared_cache *shared_cache = self;
	AUTO_ARENA arena = { 0 };

	for (uint64_t round = 1; round < 300; round++) {
		str id = build_id(&arena, round * 7 % 5);
		struct cached_binary *binary = symbol_cache_acquire(&shared_cache->cache, id);

		binary = put(&shared_cache->cache, binary, 1 + round / 50, round * 3, 40,
			     round * second);

		struct address_lines name = find(binary, round * 3 + round % 2, round * second);

		shared_cache->wrong +=
			name.len != 2 || name.lines[0].line != round * 3 + round % 2 + 1;
		symbol_cache_release(&shared_cache->cache, binary);
	}
	return NULL;
}

static void many_threads_share_it(void **state)
{
	static struct shared_cache shared_cache;
	pthread_t threads[8];

	(void)state;
	symbol_cache_init(&shared_cache.cache, 5 << 16);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, query_often, &shared_cache), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(shared_cache.wrong, 0);
	assert_true(shared_cache.cache.bytes <= 5 << 16);
	symbol_cache_done(&shared_cache.cache);
}

RUN_TESTS(TEST(stores_responses), TEST(another_generation_replaces_all_symbols),
	  TEST(a_response_that_was_overtaken_serves_only_its_own_query),
	  TEST(a_reason_expires_unless_the_debug_file_is_known),
	  TEST(evicts_the_least_recently_used_and_never_those_in_use),
	  TEST(a_binary_larger_than_the_cache_lives_while_in_use), TEST(many_threads_share_it))
