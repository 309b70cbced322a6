// SPDX-License-Identifier: Apache-2.0
/*
 * Processes in a table, changed by events as in process_test.c, and what programs find for them.
 */
#include "agent/agent_limits.h"
#include "agent/unwind/unwind_lists.h"
#include "base/clock.h"
#include "base/heap.h"
#include "support/fake_unwind_memory.h"
#include "support/test.h"

enum { PARENT = 0x7ffffff0, CHILD = 0x7ffffff1, FIRST = 0x7fff0000 };

static struct fake_unwind_memory fake;
static struct unwind_store store;
static struct unwind_lists lists;
static struct process_table table;

static int begin(void **state)
{
	struct unwind_memory memory = fake_unwind_memory(&fake);

	(void)state;
	unwind_store_init(&store, &memory, 16 * FAKE_SEGMENT_BYTES);
	unwind_lists_init(&lists, &store);
	process_table_init(&table);
	table.lists = &lists;
	return 0;
}

static int end(void **state)
{
	(void)state;
	process_table_done(&table);
	unwind_lists_done(&lists);
	unwind_store_done(&store);
	return fake.segment_count || fake.mapped;
}

static void report(enum sideband_type type, uint32_t pid, uint32_t parent, uint64_t time_ns)
{
	process_table_apply(&table, &(struct sideband_record){ .type = type,
							       .pid = pid,
							       .tid = pid,
							       .parent_pid = parent,
							       .time_ns = time_ns });
}

static void maps(uint32_t pid, uint64_t address, const char *path)
{
	struct sideband_record record = { .type = SIDEBAND_MAP,
					  .pid = pid,
					  .address = address,
					  .length = 0x1000,
					  .build_id_len = 8,
					  .path = str_from(path) };

	memcpy(record.build_id, path + strlen(path) - 8, 8); /* another for each path */
	process_table_apply(&table, &record);
}

static struct process *sampled_at(uint32_t pid, uint64_t start_ns, uint64_t exec_id,
				  uint64_t time_ns)
{
	struct sample_record record = {
		.tgid = pid, .start_ns = start_ns, .exec_id = exec_id, .time_ns = time_ns
	};
	struct process *process = process_of_sample(&table, &record, 1000);

	assert_non_null(process);
	unwind_lists_sampled(&lists, process);
	return process;
}

static struct process *sampled(uint32_t pid, uint64_t start_ns, uint64_t exec_id)
{
	return sampled_at(pid, start_ns, exec_id, 0);
}

/* The end of a round. */
static void rounds(int n)
{
	while (n--) {
		unwind_store_round(&store);
		unwind_slots_round(&lists.slots);
		unwind_lists_flush(&lists);
		unwind_store_unmap_idle(&store);
	}
}

static bool is_found(uint32_t pid)
{
	return fake_process(&fake, pid) != NULL;
}

static struct unwind_process found(uint32_t pid)
{
	const struct unwind_process *process = fake_process(&fake, pid);

	return process ? *process : (struct unwind_process){ 0 };
}

static const struct unwind_mapping *list_of(uint32_t pid)
{
	static const struct unwind_mapping nothing[2];
	const void *list = fake_at(&fake, found(pid).place);

	return is_found(pid) && list ? list : nothing;
}

static void a_process_is_found_once_it_was_sampled(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	rounds(1);
	assert_int_equal(fake.puts, 0);
	sampled(PARENT, 5, 7);
	assert_int_equal(fake.puts, 0);
	rounds(1);

	const struct unwind_mapping *list = list_of(PARENT);

	assert_int_equal(found(PARENT).start_ns, 5);
	assert_int_equal(found(PARENT).exec_id, 7);
	assert_int_equal(found(PARENT).count, 1);
	assert_int_equal(found(PARENT).place % sizeof(struct unwind_mapping), 0);
	assert_int_equal(list->start, 0x10000);
	assert_int_equal(list->end, 0x11000);
	assert_int_equal(lists.processes, 1);
	sampled(PARENT, 5, 7);
	rounds(1);
	assert_int_equal(fake.puts, 1); /* it is there already */
}

static bool was_stale(void)
{
	bool is_stale = lists.is_stale;

	lists.is_stale = false;
	return is_stale;
}

static void cached_lists_are_stale_when_a_list_changes_or_is_dropped(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	sampled(PARENT, 5, 7);
	rounds(1);
	assert_true(is_found(PARENT));
	assert_false(was_stale()); /* no program can have cached a missing list */

	maps(PARENT, 0x20000, "/lib/a_library");
	rounds(1);
	assert_int_equal(found(PARENT).count, 2);
	assert_true(was_stale());

	struct process *process = sampled(PARENT, 5, 7);

	unwind_lists_forget(&lists, process);
	assert_false(is_found(PARENT));
	assert_true(was_stale());
}

static void forks_share_a_list_until_one_maps_something(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	sampled(PARENT, 5, 1);
	report(SIDEBAND_FORK, CHILD, PARENT, 2);
	sampled(CHILD, 6, 1);
	rounds(1);
	assert_ptr_equal(list_of(CHILD), list_of(PARENT));
	assert_int_equal(lists.written, 1);
	maps(CHILD, 0x20000, "/lib/a_library");
	rounds(1);
	assert_ptr_not_equal(list_of(CHILD), list_of(PARENT));
	assert_int_equal(found(CHILD).count, 2);
	assert_int_equal(found(PARENT).count, 1);
	assert_int_equal(found(CHILD).start_ns, 6);
}

static void mappings_of_one_round_are_written_once(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	sampled(PARENT, 5, 1);
	rounds(1);
	for (uint64_t i = 0; i < 100; i++)
		maps(PARENT, 0x100000 + i * 0x1000, "/lib/a_library");
	rounds(1);
	assert_int_equal(lists.written, 2);
	assert_int_equal(found(PARENT).count, 101);

	const struct unwind_mapping *list = list_of(PARENT);

	for (uint32_t i = 1; i < 101; i++)
		assert_true(list[i - 1].end <= list[i].start);
}

static void a_list_may_be_longer_than_a_page(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	for (uint64_t i = 0; i < 1000; i++)
		maps(PARENT, 0x100000 + i * 0x1000, "/lib/a_library");
	sampled(PARENT, 5, 1);
	rounds(1);
	assert_int_equal(found(PARENT).count, 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t place = found(PARENT).place + i * sizeof(struct unwind_mapping);
		uint64_t start = 0x100000 + i * 0x1000;

		assert_memory_equal(fake_at(&fake, place), &start, sizeof(start));
	}
}

static void exec_is_found_with_its_count_and_the_old_list_is_dropped(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	sampled(PARENT, 5, 7);
	rounds(1);
	report(SIDEBAND_EXEC, PARENT, 0, 100);
	maps(PARENT, 0x50000, "/bin/another_one");
	rounds(1);
	assert_int_equal(found(PARENT).exec_id, 8);
	assert_int_equal(list_of(PARENT)->start, 0x50000);
	process_table_retire(&table, 200);
	rounds(2);
	assert_int_equal(lists.slots.pages, 1);
	assert_int_equal(lists.processes, 1);
}

static void a_process_that_ends_in_the_round_of_its_sample_is_never_written(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t pid = FIRST + i;

		report(SIDEBAND_FORK, pid, PARENT, 1);
		report(SIDEBAND_EXEC, pid, 0, 2);
		maps(pid, 0x10000, "/bin/a_program");
		sampled(pid, 5 + i, 1);
		report(SIDEBAND_EXIT, pid, PARENT, 3);
	}
	rounds(1);
	process_table_retire(&table, 100);
	rounds(2);
	assert_int_equal(fake.puts, 0);
	assert_int_equal(fake.drops, 0);
	assert_int_equal(lists.written, 0);
	assert_int_equal(store.pages_used, 0);
}

static void a_process_that_has_ended_is_not_found(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	sampled(PARENT, 5, 7);
	rounds(1);
	report(SIDEBAND_EXIT, PARENT, 0, 50);
	process_table_retire(&table, 100);
	assert_false(is_found(PARENT));
	assert_int_equal(lists.processes, 0);
	rounds(4);
	assert_int_equal(store.pages_used, 0);
	assert_int_equal(fake.segment_count, 0);
}

static void a_pid_used_again_is_another_process(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	sampled(PARENT, 5, 7);
	rounds(1);
	sampled(PARENT, 99, 3); /* its exit, and another's start, were lost */
	assert_false(is_found(PARENT));
	rounds(1);
	assert_false(is_found(PARENT)); /* nothing is known of it */
	maps(PARENT, 0x70000, "/bin/another_one");
	sampled(PARENT, 99, 3);
	rounds(1);
	assert_int_equal(found(PARENT).start_ns, 99);
	assert_int_equal(list_of(PARENT)->start, 0x70000);
}

static void without_room_the_least_recently_sampled_is_evicted(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FAKE_PROCESSES; i++) {
		report(SIDEBAND_EXEC, FIRST + i, 0, 1);
		maps(FIRST + i, 0x10000, "/bin/a_program");
		sampled(FIRST + i, 5, 1);
		rounds(1);
	}
	sampled(FIRST, 5, 1);
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	sampled(PARENT, 5, 1);
	rounds(1);
	assert_true(is_found(PARENT));
	assert_true(is_found(FIRST));
	assert_false(is_found(FIRST + 1));
	assert_int_equal(lists.evictions, 1);
	sampled(FIRST + 1, 5, 1);
	rounds(1);
	assert_true(is_found(FIRST + 1));
	assert_false(is_found(FIRST + 2));
}

static void an_old_list_is_quarantined_before_its_slot_is_reused(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	sampled(PARENT, 5, 1);
	rounds(1);

	const struct unwind_mapping *old = list_of(PARENT);

	maps(PARENT, 0x20000, "/lib/a_library");
	rounds(1);
	assert_int_equal(old->start, 0x10000);
	assert_int_equal(old->end, 0x11000);
	report(SIDEBAND_FORK, CHILD, PARENT, 2);
	maps(CHILD, 0x30000, "/lib/b_library");
	sampled(CHILD, 6, 1);
	unwind_lists_flush(&lists);
	assert_ptr_not_equal(list_of(CHILD), old);
}

static void loaded_and_evicted_tables_are_updated_in_the_lists(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	maps(PARENT, 0x20000, "/lib/a_library");

	struct process *process = sampled(PARENT, 5, 1);
	struct executable *library = process->image->mappings.items[1].executable;
	struct elf_segment *segment = heap_new(struct elf_segment);

	*segment = (struct elf_segment){ .size = 0x1000, .address = 0x400000, .executable = true };
	library->segments = segment;
	rounds(1);

	const struct unwind_mapping *list = list_of(PARENT);

	assert_int_equal(list[1].table, 0);
	library->segment_count = 1; /* the file was read meanwhile */
	library->unwind.page = 77;
	assert_false(was_stale());
	unwind_lists_refresh(&lists);
	assert_true(was_stale());
	assert_int_equal(list[0].table, 0);
	assert_int_equal(list[1].table, 77);
	assert_int_equal(list[1].bias, (uint64_t)0x20000 - 0x400000);
	library->unwind.page = 0;
	unwind_lists_refresh(&lists);
	unwind_lists_refresh(&lists);
	assert_true(was_stale());
	assert_int_equal(list[1].table, 0);
	unwind_store_unmap_idle(&store);
	assert_int_equal(lists.written, 1);
}

static void a_pending_table_is_marked_until_it_is_loaded_or_fails(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");

	struct process *process = sampled(PARENT, 5, 1);
	struct executable *program = process->image->mappings.items[0].executable;

	program->unwind.state = UNWIND_TABLE_WANTED;
	rounds(1);
	assert_int_equal(list_of(PARENT)->flags, UNWIND_MAPPING_AWAITED);
	program->unwind.state = UNWIND_TABLE_LOADED;
	unwind_lists_refresh(&lists);
	assert_int_equal(list_of(PARENT)->flags, 0);
	program->unwind.state = UNWIND_TABLE_REQUESTED;
	unwind_lists_refresh(&lists);
	assert_int_equal(list_of(PARENT)->flags, UNWIND_MAPPING_AWAITED);
	program->unwind.state = UNWIND_TABLE_FAILED;
	unwind_lists_refresh(&lists);
	assert_int_equal(list_of(PARENT)->flags, 0);
	program->unwind.state = UNWIND_TABLE_NONE;
	unwind_store_unmap_idle(&store);
}

static void a_process_in_which_code_is_replaced_is_marked_for_a_while(void **state)
{
	uint64_t over_ns = 1 + REMAPPED_MS * NS_PER_MS;

	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	maps(PARENT, 0x20000, "/lib/plugin_a");
	sampled(PARENT, 5, 1);
	rounds(1);
	assert_int_equal(found(PARENT).flags, 0);
	maps(PARENT, 0x20000, "/lib/plugin_b");
	rounds(1);
	assert_int_equal(found(PARENT).flags, UNWIND_PROCESS_REMAPPED);
	sampled_at(PARENT, 5, 1, over_ns - 2);
	rounds(1);
	assert_int_equal(found(PARENT).flags, UNWIND_PROCESS_REMAPPED);
	sampled_at(PARENT, 5, 1, over_ns);
	rounds(1);
	assert_int_equal(found(PARENT).flags, 0);
	assert_int_equal(lists.written, 2); /* the list is the same */
}

static void generated_code_is_marked(void **state)
{
	(void)state;
	report(SIDEBAND_EXEC, PARENT, 0, 1);
	maps(PARENT, 0x10000, "/bin/a_program");
	maps(PARENT, 0x20000, "//anon__");
	sampled(PARENT, 5, 1);
	rounds(1);
	assert_int_equal(list_of(PARENT)[0].flags, 0);
	assert_int_equal(list_of(PARENT)[1].flags, UNWIND_MAPPING_ANONYMOUS);
	assert_int_equal(list_of(PARENT)[1].bias, 0);
}

/* Where data and code share a page of the file, each has its own address for it. */
static void the_bias_is_that_of_the_code_in_the_mapped_part(void **state)
{
	static const struct elf_segment segments[] = {
		{ .offset = 0, .size = 0x1800, .address = 0 },
		{ .offset = 0x1800, .size = 0x1000, .address = 0x2800, .executable = true },
		{ .offset = 0x2800, .size = 0x800, .address = 0x4800 },
	};
	struct executable executable = { .segments = segments, .segment_count = 3 };
	struct mapping mapping = { .start = 0x7f0000002000,
				   .end = 0x7f0000004000,
				   .file_offset = 0x1000,
				   .executable = &executable };
	struct mappings mappings = { .items = &mapping, .len = 1 };
	struct unwind_mapping made;

	(void)state;
	unwind_lists_fill(&mappings, &made);
	assert_int_equal(made.bias, 0x7f0000000000);
	assert_int_equal(made.start - made.bias, 0x2000); /* the page that 0x2800 is in */
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

RUN_TESTS(CASE(a_process_is_found_once_it_was_sampled),
	  CASE(cached_lists_are_stale_when_a_list_changes_or_is_dropped),
	  CASE(forks_share_a_list_until_one_maps_something),
	  CASE(mappings_of_one_round_are_written_once), CASE(a_list_may_be_longer_than_a_page),
	  CASE(exec_is_found_with_its_count_and_the_old_list_is_dropped),
	  CASE(a_process_that_ends_in_the_round_of_its_sample_is_never_written),
	  CASE(a_process_that_has_ended_is_not_found), CASE(a_pid_used_again_is_another_process),
	  CASE(without_room_the_least_recently_sampled_is_evicted),
	  CASE(an_old_list_is_quarantined_before_its_slot_is_reused),
	  CASE(loaded_and_evicted_tables_are_updated_in_the_lists),
	  CASE(a_pending_table_is_marked_until_it_is_loaded_or_fails),
	  CASE(a_process_in_which_code_is_replaced_is_marked_for_a_while),
	  CASE(generated_code_is_marked), TEST(the_bias_is_that_of_the_code_in_the_mapped_part))
