// SPDX-License-Identifier: Apache-2.0
#include "store/write/fence_groups_internal.h"
#include "support/test.h"

/* Parts reference hosts by letter. */
static struct store_flush_part *parts_of(const char *const *texts, size_t count,
					 struct arena *arena)
{
	struct store_flush_part *parts = arena_array(arena, struct store_flush_part, count);
	struct store_host *hosts = arena_array(arena, struct store_host, 26);

	for (size_t i = 0; i < 26; i++)
		hosts[i] = (struct store_host){
			.host = str_format(arena, "host-%c", (char)('a' + i)),
			.epoch = 1,
		};
	for (size_t i = 0; i < count; i++) {
		str text = str_from(texts[i]);
		struct store_host **of = arena_array(arena, struct store_host *, text.len);

		for (size_t j = 0; j < text.len; j++)
			of[j] = &hosts[text.ptr[j] - 'a'];
		parts[i].hosts = of;
		parts[i].host_count = text.len;
	}
	return parts;
}

static void a_lost_part_takes_the_parts_that_it_shares_hosts_with(void **state)
{
	static const struct {
		const char *parts[5];
		size_t lose;
		const char *lost; /* by part: x or - */
	} cases[] = {
		{ { "a", "b", "c", "d", "e" }, 2, "--x--" },
		{ { "a", "ab", "b", "d", "e" }, 0, "xxx--" }, /* through the part between them */
		{ { "ab", "c", "bc", "", "de" }, 2, "xxx--" },
		{ { "ab", "c", "bc", "", "de" }, 3, "---x-" },
		{ { "ab", "cd", "ef", "ad", "cf" }, 4, "xxxxx" },
		{ { "a", "a", "b", "b", "" }, 1, "xx---" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { 0 };
		struct store_flush_part *parts = parts_of(cases[i].parts, 5, &arena);
		struct fence_groups groups;
		size_t lost = 0;

		fence_groups_init(&groups, parts, 5, &arena);
		lost = fence_groups_lose(&groups, parts, cases[i].lose);

		for (size_t j = 0; j < 5; j++) {
			assert_int_equal(parts[j].lost, cases[i].lost[j] == 'x');
			lost -= parts[j].lost;
		}
		assert_int_equal(lost, 0);
		assert_int_equal(fence_groups_lose(&groups, parts, cases[i].lose), 0);
	}
}

static void hosts_are_distinct_and_sorted_and_those_of_lost_parts_are_left_out(void **state)
{
	static const char *const texts[] = { "cab", "bd", "z", "a" };
	AUTO_ARENA arena = { 0 };
	struct store_flush_part *parts = parts_of(texts, 4, &arena);
	struct fence_groups groups;
	char names[27] = "";

	(void)state;
	parts[2].lost = true;
	fence_groups_init(&groups, parts, 4, &arena);

	assert_int_equal(groups.host_count, 4);
	for (size_t i = 0; i < groups.host_count; i++) {
		const struct fence_host *host = &groups.hosts[i];

		names[i] = host->host->host.ptr[5];
		assert_ptr_equal(fence_groups_host(&groups, host->host->host, 1), host);
		assert_null(fence_groups_host(&groups, host->host->host, 2));
	}
	assert_string_equal(names, "abcd");
	assert_null(fence_groups_host(&groups, STR("host-z"), 1));
}

/* A search of all parts for each host of a lost part takes 0.7 s a part here. */
static void many_hosts_of_many_parts_are_lost_in_reasonable_time(void **state)
{
	enum { PARTS = 64, HOSTS = 1000 };
	AUTO_ARENA arena = { 0 };
	struct store_flush_part *parts = arena_array(&arena, struct store_flush_part, PARTS);
	struct fence_groups groups;
	size_t lost = 0;

	(void)state;
	for (size_t i = 0; i < PARTS; i++) {
		struct store_host **hosts = arena_array(&arena, struct store_host *, HOSTS);

		for (size_t j = 0; j < HOSTS; j++) {
			hosts[j] = arena_new(&arena, struct store_host);
			hosts[j]->host = str_format(&arena, "node-%zu-of-%zu", j, i);
		}
		parts[i].hosts = hosts;
		parts[i].host_count = HOSTS;
	}
	fence_groups_init(&groups, parts, PARTS, &arena);
	for (size_t i = 0; i < groups.host_count; i++)
		lost += fence_groups_lose(&groups, parts, groups.hosts[i].part);

	assert_int_equal(groups.host_count, PARTS * HOSTS);
	assert_int_equal(lost, PARTS);
}

RUN_TESTS(TEST(a_lost_part_takes_the_parts_that_it_shares_hosts_with),
	  TEST(hosts_are_distinct_and_sorted_and_those_of_lost_parts_are_left_out),
	  TEST(many_hosts_of_many_parts_are_lost_in_reasonable_time))
