// SPDX-License-Identifier: Apache-2.0
#include "agent/labels/containers.h"
#include "support/test.h"

#include <stdio.h>

enum { ID_ROOM = 65 };

static struct docker_container container_of(unsigned int number, char *room, const char *name)
{
	snprintf(room, ID_ROOM, "%064x", number);
	return (struct docker_container){ .id = str_from(room), .name = str_from(name) };
}

static void put(struct containers *containers, unsigned int number, const char *name)
{
	char room[ID_ROOM];
	struct docker_container container = container_of(number, room, name);

	assert_true(containers_put(containers, &container));
}

static void remove_one(struct containers *containers, unsigned int number)
{
	char room[ID_ROOM];
	struct docker_container container = container_of(number, room, "");

	container.is_gone = true;
	assert_true(containers_put(containers, &container));
}

static bool is_called(struct containers *containers, unsigned int number, const char *name)
{
	char room[ID_ROOM];
	struct container_names names;

	snprintf(room, sizeof(room), "%064x", number);
	return containers_find(containers, str_from(room), &names) && strcmp(names.name, name) == 0;
}

static void names_follow_updates(void **state)
{
	struct containers containers;
	struct container_names names;

	(void)state;
	containers_init(&containers);
	put(&containers, 1, "first");
	put(&containers, 1, "renamed");
	put(&containers, 2, "second");
	assert_true(is_called(&containers, 1, "renamed") && is_called(&containers, 2, "second"));
	assert_int_equal(containers_count(&containers), 2);
	remove_one(&containers, 1);
	remove_one(&containers, 3);
	assert_int_equal(containers_count(&containers), 1);
	assert_true(is_called(&containers, 1, "renamed"));
	assert_false(containers_find(&containers, STR("2"), &names));
	containers_done(&containers);
}

static void a_container_missing_in_a_later_list_is_removed(void **state)
{
	struct containers containers;

	(void)state;
	containers_init(&containers);
	containers_list_begin(&containers);
	put(&containers, 1, "stays");
	put(&containers, 2, "goes");
	containers_list_end(&containers);
	containers_list_begin(&containers);
	put(&containers, 1, "stays");
	assert_int_equal(containers_count(&containers), 2);
	containers_list_end(&containers);
	assert_int_equal(containers_count(&containers), 1);
	containers_done(&containers);
}

static void the_first_removed_is_evicted_first(void **state)
{
	struct containers containers;

	(void)state;
	containers_init(&containers);
	for (unsigned int i = 0; i <= CONTAINERS_GONE_MAX; i++) {
		put(&containers, i, "x");
		remove_one(&containers, i);
	}
	assert_false(is_called(&containers, 0, "x"));
	assert_true(is_called(&containers, 1, "x"));
	assert_int_equal(containers_count(&containers), 0);
	containers_done(&containers);
}

static void there_is_room_for_containers_max(void **state)
{
	struct containers containers;
	char room[ID_ROOM];
	struct docker_container more = container_of(CONTAINERS_MAX, room, "more");

	(void)state;
	containers_init(&containers);
	for (unsigned int i = 0; i < CONTAINERS_MAX; i++)
		put(&containers, i, "x");
	assert_false(containers_put(&containers, &more));
	remove_one(&containers, 7);
	assert_true(containers_put(&containers, &more));
	assert_true(is_called(&containers, CONTAINERS_MAX, "more"));
	assert_false(is_called(&containers, 7, "x"));
	containers_done(&containers);
}

static void a_long_text_is_truncated_at_a_character(void **state)
{
	struct containers containers;
	struct container_names names;
	char room[ID_ROOM], text[CONTAINER_TEXT_MAX + 2];
	struct docker_container container;

	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text + CONTAINER_TEXT_MAX - 2, "\xc3\xbc", 2);
	text[sizeof(text) - 1] = 0;
	container = container_of(1, room, text);
	containers_init(&containers);
	assert_true(containers_put(&containers, &container));
	assert_true(containers_find(&containers, container.id, &names));
	assert_int_equal(strlen(names.name), CONTAINER_TEXT_MAX - 2);
	containers_done(&containers);
}

RUN_TESTS(TEST(names_follow_updates), TEST(a_container_missing_in_a_later_list_is_removed),
	  TEST(the_first_removed_is_evicted_first), TEST(there_is_room_for_containers_max),
	  TEST(a_long_text_is_truncated_at_a_character))
