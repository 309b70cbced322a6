// SPDX-License-Identifier: Apache-2.0
/*
 * What the walk remembers from one stack to the next.
 */
#include "support/unwind_stand.h"

static void caches_rules_while_tables_are_unchanged(void **state)
{
	set_up(program, ARRAY_LEN(program));
	(void)state;
	stack[1] = CODE_AT + ROOT_AT + 0x10;
	run();
	assert_int_equal(frame_count, 2);
	has_page[TABLE] = false;
	run();
	assert_int_equal(frame_count, 2);
	assert_int_equal(walker.end, USER_END_COMPLETE);

	walker.generation.tables++;
	run();
	assert_int_equal(walker.end, USER_END_NO_TABLE);
}

static void caches_no_rule_of_another_table_at_the_same_address(void **state)
{
	struct unwind_mapping *list = (void *)pages[LIST];

	set_up(program, ARRAY_LEN(program));
	(void)state;
	stack[1] = CODE_AT + ROOT_AT + 0x10;
	run();
	list[0].table = GO_TABLE + 5; /* which is not there */
	walker.generation.lists++;
	run();

	assert_int_equal(walker.end, USER_END_NO_TABLE);
}

static void caches_a_mapping_while_its_list_is_unchanged(void **state)
{
	set_up(program, ARRAY_LEN(program));
	(void)state;
	stack[1] = CODE_AT + ROOT_AT + 0x10;
	run();
	has_page[LIST] = false;
	run();
	assert_int_equal(walker.end, USER_END_COMPLETE);

	walker.generation.lists++;
	run();
	assert_int_not_equal(walker.end, USER_END_COMPLETE);
	assert_true(walker.flags & SAMPLE_NEEDS_AGENT_WALK);
}

static void caches_no_mapping_of_another_list(void **state)
{
	struct unwind_process other = process;

	set_up(program, ARRAY_LEN(program));
	(void)state;
	stack[1] = CODE_AT + ROOT_AT + 0x10;
	run();
	other.place += UNWIND_PAGE_BYTES; /* where no page is */
	run_of(&other);
	assert_true(walker.flags & SAMPLE_NEEDS_AGENT_WALK);
	run_of(NULL);
	assert_true(walker.flags & SAMPLE_NEEDS_AGENT_WALK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(caches_rules_while_tables_are_unchanged),
		TEST(caches_no_rule_of_another_table_at_the_same_address),
		TEST(caches_a_mapping_while_its_list_is_unchanged),
		TEST(caches_no_mapping_of_another_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
