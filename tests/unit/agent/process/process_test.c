// SPDX-License-Identifier: Apache-2.0
/*
 * Events go in as sideband events, with pids that no process has: nothing is in /proc for
 * them. What must be read from /proc is asked about this test itself.
 */
#include "agent/agent_limits.h"
#include "agent/process/proc_internal.h"
#include "agent/process/process.h"
#include "base/clock.h"
#include "support/test.h"

#include <sys/mman.h>

enum { PARENT = 0x7ffffff0, CHILD = 0x7ffffff1 }; /* beyond any pid_max */

static struct process_table table;
static uint64_t began_ns;

static int begin(void **state)
{
	(void)state;
	process_table_init(&table);
	began_ns = table.budget.now_ns;
	return 0;
}

/* A time of the clock of rounds and events, later than the table's begin. */
static uint64_t second(uint64_t i)
{
	return began_ns + i * NS_PER_SECOND;
}

static int end(void **state)
{
	(void)state;
	process_table_done(&table);
	return 0;
}

static void forks(uint32_t parent, uint32_t pid, uint32_t tid)
{
	process_table_apply(&table, &(struct sideband_record){ .type = SIDEBAND_FORK,
							       .pid = pid,
							       .tid = tid,
							       .parent_pid = parent });
}

static void execs(uint32_t pid, uint64_t time_ns)
{
	process_table_apply(
		&table,
		&(struct sideband_record){ .type = SIDEBAND_EXEC, .pid = pid, .time_ns = time_ns });
}

static void exits(uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	process_table_apply(&table, &(struct sideband_record){ .type = SIDEBAND_EXIT,
							       .pid = pid,
							       .tid = tid,
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

static struct process *sampled(uint32_t pid, uint64_t start_ns, uint64_t exec_id)
{
	struct sample_record record = { .tgid = pid, .start_ns = start_ns, .exec_id = exec_id };

	return process_of_sample(&table, &record, 1000);
}

/* The path mapped at an address, or "" */
static const char *path_at(const struct process *process, uint64_t address)
{
	const struct mappings *mappings = process_mappings(process, address);
	const struct mapping *mapping = mappings ? mappings_find(mappings, address) : NULL;

	return mapping && mapping->executable ? mapping->executable->path : "";
}

static void a_fork_inherits_and_then_changes_independently(void **state)
{
	(void)state;
	execs(PARENT, 1);
	maps(PARENT, 0x10000, "/bin/parent");
	forks(PARENT, CHILD, CHILD);
	maps(CHILD, 0x20000, "/lib/childs");

	struct process *parent = sampled(PARENT, 5, 1), *child = sampled(CHILD, 6, 1);

	assert_string_equal(path_at(child, 0x10000), "/bin/parent");
	assert_string_equal(path_at(child, 0x20800), "/lib/childs");
	assert_string_equal(path_at(parent, 0x20000), "");
	assert_string_equal(child->image->exe, "/bin/parent");
}

static void exec_begins_a_program_named_by_its_first_mapping(void **state)
{
	(void)state;
	execs(PARENT, 1);
	maps(PARENT, 0x10000, "/bin/old");
	execs(PARENT, 2);
	maps(PARENT, 0x30000, "/bin/new");
	maps(PARENT, 0x40000, "/lib/ld.so");

	assert_string_equal(sampled(PARENT, 5, 1)->image->exe, "/bin/new");
}

static void during_exec_the_old_mappings_are_used(void **state)
{
	(void)state;
	execs(PARENT, 1);
	maps(PARENT, 0x10000, "/bin/old");
	execs(PARENT, 100);
	maps(PARENT, 0x30000, "/bin/new");

	struct process *process = sampled(PARENT, 5, 1);

	assert_string_equal(path_at(process, 0x10000), "/bin/old");
	assert_string_equal(path_at(process, 0x30000), "/bin/new");
	process_table_retire(&table, 101);
	assert_string_equal(path_at(process, 0x10000), "");
}

static void a_process_lives_until_its_last_thread_ends(void **state)
{
	(void)state;
	forks(1, PARENT, PARENT);
	forks(PARENT, PARENT, PARENT + 5);
	exits(PARENT, PARENT, 10);
	process_table_retire(&table, UINT64_MAX);
	assert_int_equal(table.by_pid.len, 1);
	exits(PARENT, PARENT + 5, 20);
	process_table_retire(&table, 20);
	assert_int_equal(table.by_pid.len, 1); /* a sample of its last moments may still come */
	process_table_retire(&table, 21);
	assert_int_equal(table.by_pid.len, 0);
}

static void exec_ends_the_other_threads(void **state)
{
	(void)state;
	forks(1, PARENT, PARENT);
	forks(PARENT, PARENT, PARENT + 5);
	exits(PARENT, PARENT + 5, 10);
	execs(PARENT, 11);
	exits(PARENT, PARENT, 20);
	process_table_retire(&table, 21);
	assert_int_equal(table.by_pid.len, 0);
}

static void a_reused_pid_is_another_process(void **state)
{
	(void)state;
	execs(PARENT, 1);
	maps(PARENT, 0x10000, "/bin/first");
	exits(PARENT, PARENT, 10);
	forks(1, PARENT, PARENT);

	struct process *second = sampled(PARENT, 5, 1);

	assert_string_equal(path_at(second, 0x10000), "");
	process_table_retire(&table, 1000);
	assert_int_equal(table.by_pid.len, 1);
}

static void a_reused_pid_is_recognized_by_its_start(void **state)
{
	(void)state;
	execs(PARENT, 1);
	maps(PARENT, 0x10000, "/bin/first");
	assert_string_equal(path_at(sampled(PARENT, 5, 1), 0x10000), "/bin/first");
	assert_string_equal(path_at(sampled(PARENT, 7, 1), 0x10000), "");
	assert_int_equal(table.reused, 1);
}

static struct process *sampled_self(uint64_t exec_id)
{
	struct proc_stat stat;

	assert_true(proc_stat_read((uint32_t)getpid(), &stat));
	return sampled((uint32_t)getpid(), stat.start_ticks * 10000000 + 1234567, exec_id);
}

static void a_process_without_events_is_read_from_proc(void **state)
{
	(void)state;
	struct process *self = sampled_self(3);
	uint64_t here = (uint64_t)(uintptr_t)a_process_without_events_is_read_from_proc;

	assert_true(str_ends_with(str_from(self->image->exe), STR("process_test")));
	assert_true(str_ends_with(str_from(path_at(self, here)), STR("process_test")));
	assert_true(self->cgroup->names.path.len > 0);
	assert_int_equal(table.scanned, 1);
	sampled_self(3);
	assert_int_equal(table.scanned, 1);
}

static void an_exec_without_event_is_detected_by_its_count(void **state)
{
	(void)state;
	sampled_self(3);
	execs((uint32_t)getpid(), 50); /* with an event, which raises the count */
	sampled_self(4);
	assert_int_equal(table.scanned, 1);
	sampled_self(5);
	assert_int_equal(table.scanned, 2);
}

static void after_a_loss_only_a_sampled_process_is_read_again(void **state)
{
	(void)state;
	const struct process *self = sampled_self(3);
	uint64_t here = (uint64_t)(uintptr_t)after_a_loss_only_a_sampled_process_is_read_again;

	maps(self->pid, here & ~0xfffULL, "/lib/other.so");
	assert_string_equal(path_at(self, here), "/lib/other.so");
	process_table_begin_round(&table, second(1));
	process_table_lost(&table);
	assert_int_equal(table.scanned, 1);
	sampled_self(3);

	assert_int_equal(table.scanned, 2);
	assert_true(str_ends_with(str_from(path_at(self, here)), STR("process_test")));
	sampled_self(3);
	assert_int_equal(table.scanned, 2);
}

static void while_events_are_lost_a_process_is_read_once_a_second(void **state)
{
	(void)state;
	sampled_self(3);
	for (uint64_t i = 1; i <= 8; i++) {
		process_table_begin_round(&table, second(1) + i * 250 * NS_PER_MS);
		process_table_lost(&table);
		sampled_self(3);
	}
	assert_int_equal(table.scanned, 3);
}

static bool request(void *self, struct executable *executable, const struct executable_claim *claim,
		    bool only_locate)
{
	(void)self;
	(void)executable;
	(void)claim;
	(void)only_locate;
	return true;
}

static void a_read_that_changes_nothing_keeps_the_image(void **state)
{
	struct executable_source source = { .request = request };

	(void)state;
	executable_cache_set_source(&table.executables, &source);
	const struct process *self = sampled_self(3);
	const struct process_image *image = self->image;

	process_table_begin_round(&table, second(1));
	process_table_lost(&table);
	sampled_self(3);

	assert_int_equal(table.scanned, 2);
	assert_ptr_equal(self->image, image);
}

/* There is no event of munmap() nor of mremap(). */
static void code_that_moved_over_a_closed_library_loses_its_name(void **state)
{
	uint32_t pid = (uint32_t)getpid();

	(void)state;
	sampled_self(3);
	maps(pid, 0x10000, "/lib/closed.so");
	process_table_begin_round(&table, second(5));
	assert_string_equal(path_at(sampled_self(3), 0x10000), "/lib/closed.so");
	assert_int_equal(table.scanned, 1); /* it has no generated code */

	maps(pid, 0x20000, "//anon..");
	process_table_begin_round(&table, second(6));
	assert_string_equal(path_at(sampled_self(3), 0x10000), "");
	assert_int_equal(table.scanned, 2);
}

static void a_process_that_generates_code_is_read_at_a_bounded_pace(void **state)
{
	uint32_t pid = (uint32_t)getpid();

	(void)state;
	sampled_self(3);
	for (uint64_t i = 1; i <= 16; i++) {
		process_table_begin_round(&table, second(1) + i * 250 * NS_PER_MS);
		maps(pid, 0x20000, "//anon..");
		sampled_self(3);
	}
	assert_int_equal(table.scanned, 1 + 4000 / READ_GENERATED_MS);
}

static void without_budget_a_process_is_read_later(void **state)
{
	(void)state;
	table.budget.cpu_ns[READ_SMALL].tokens = -1;
	assert_null(sampled_self(3)->image);
	assert_int_equal(table.scanned, 0);
	assert_int_equal(table.postponed, 1);

	process_table_begin_round(&table, second(1));
	assert_non_null(sampled_self(3)->image);
	assert_int_equal(table.scanned, 1);
}

/* Takes places of the cache for the owner until `left` are left for it; or releases some. */
static void hold_places(struct share_owner owner, uint64_t left)
{
	while (shares_has_room(&table.executables.places, owner, left + 1))
		assert_true(shares_take(&table.executables.places, owner, 1));
	while (!shares_has_room(&table.executables.places, owner, left))
		shares_release(&table.executables.places, owner, 1);
}

static void sample_each_second(const struct process *self, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i <= to; i++) {
		struct sample_record record = { .tgid = self->pid,
						.start_ns = self->start_ns,
						.exec_id = 3 };

		process_table_begin_round(&table, second(i));
		(void)process_of_sample(&table, &record, second(i) / NS_PER_MS);
	}
}

static void files_that_found_no_place_are_known_when_there_is_room(void **state)
{
	uint32_t pid = (uint32_t)getpid();
	uint64_t here = (uint64_t)(uintptr_t)files_that_found_no_place_are_known_when_there_is_room;
	struct process own = { .pid = pid };
	struct share_owner owner = owner_of_process(&own);

	(void)state;
	hold_places(owner, 0);
	const struct process *self = sampled_self(3);

	assert_string_equal(path_at(self, here), "");
	assert_true(self->lacks_files);
	sample_each_second(self, 1, 3); /* its files find no place again */
	assert_true(self->lacks_files);
	hold_places(owner, EXECUTABLES_SPARE);
	sample_each_second(self, 4, 4 + FILES_RETRY_MS / 1000);

	assert_true(str_ends_with(str_from(path_at(self, here)), STR("process_test")));
	assert_false(self->lacks_files);
}

static void a_process_whose_mappings_could_not_be_read_waits(void **state)
{
	struct process *self;

	(void)state;
	table.reader.pauses[0] =
		(struct proc_hung){ .pid = (uint32_t)getpid(), .until_ms = UINT64_MAX };
	self = sampled_self(3);
	assert_int_equal(table.postponed, 1);
	assert_true(!self || !self->image);
}

static void files_of_processes_that_are_not_sampled_give_way(void **state)
{
	struct process none = { .pid = PARENT };
	struct share_owner gone = owner_of_process(&none);
	struct sample_record record = { .tgid = CHILD, .start_ns = 7, .exec_id = 1 };

	(void)state;
	execs(PARENT, 1);
	execs(CHILD, 1);
	maps(PARENT, 0x10000, "/of/parent");
	maps(CHILD, 0x10000, "/of/child");
	struct process *parent = sampled(PARENT, 5, 1), *child = sampled(CHILD, 7, 1);

	hold_places(gone, 0);
	maps(CHILD, 0x20000, "/of/child/too");
	assert_string_equal(path_at(child, 0x20000), "");
	(void)process_of_sample(&table, &record, second(12) / NS_PER_MS - 1);
	process_table_begin_round(&table, second(12));

	assert_string_equal(path_at(parent, 0x10000), "");
	assert_string_equal(path_at(child, 0x10000), "/of/child");
	assert_true(shares_has_room(&table.executables.places, gone, 1));
	assert_int_equal(child->losses_seen, 0);
}

static void a_missed_exec_without_budget_leaves_no_names_of_the_program_before(void **state)
{
	(void)state;
	assert_non_null(sampled_self(3)->image);
	table.budget.cpu_ns[READ_SMALL].tokens = -1;
	assert_null(sampled_self(4)->image);
}

static void a_process_with_many_mappings_is_read_in_the_time_for_large_ones(void **state)
{
	enum { MANY = PROC_MAPS_SMALL_BYTES / 32 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, MANY * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	for (size_t i = 0; i < MANY; i += 2) /* neighbours differ, so that each is a mapping */
		assert_int_equal(mprotect(memory + i * page, page, PROT_READ | PROT_WRITE), 0);

	table.budget.cpu_ns[READ_LARGE].tokens = -1;
	const struct process *self = sampled_self(3);
	uint64_t here = (uint64_t)(uintptr_t)
		a_process_with_many_mappings_is_read_in_the_time_for_large_ones;

	assert_true(self->is_large);
	assert_int_equal(table.postponed, 1);
	table.budget.cpu_ns[READ_LARGE].tokens = 1;
	process_table_begin_round(&table, second(2));
	sampled_self(3);

	assert_true(self->is_large);
	assert_int_equal(self->losses_seen, table.losses);
	assert_true(str_ends_with(str_from(path_at(self, here)), STR("process_test")));
	assert_true(table.budget.cpu_ns[READ_LARGE].tokens <
		    (int64_t)(PROC_LARGE_BURST_MS * NS_PER_MS));
	table.budget.cpu_ns[READ_LARGE].tokens = -1;
	process_table_lost(&table);
	process_table_begin_round(&table, second(2) + NS_PER_SECOND);
	table.budget.cpu_ns[READ_LARGE].tokens = -1;
	sampled_self(3);
	assert_true(str_ends_with(str_from(path_at(self, here)), STR("process_test")));
	munmap(memory, MANY * page);
}

static bool maps_at(uint32_t pid, uint64_t time_ns, uint64_t address)
{
	struct sideband_record record = { .type = SIDEBAND_MAP,
					  .pid = pid,
					  .time_ns = time_ns,
					  .address = address,
					  .length = 0x1000,
					  .path = STR("//anon") };
	bool takes = process_table_takes(&table, &record);

	if (takes)
		process_table_apply(&table, &record);
	return takes;
}

static uint64_t map_until_muted(uint32_t pid, uint64_t time_ns)
{
	uint64_t i = 0;

	while (i < MAP_BYTES_PER_SECOND_MAX && maps_at(pid, time_ns, i * 0x1000))
		i++;
	return i;
}

static struct process *sampled_as(uint32_t pid, const char *comm)
{
	struct sample_record record = { .tgid = pid, .start_ns = 5, .exec_id = 1 };

	memcpy(record.comm, comm, strlen(comm));
	return process_of_sample(&table, &record, 1000);
}

static void a_process_keeps_the_name_of_its_first_sample(void **state)
{
	(void)state;
	forks(1, PARENT, PARENT);
	assert_string_equal(sampled_as(PARENT, "first")->comm, "first");
	assert_string_equal(sampled_as(PARENT, "renamed")->comm, "first");
	forks(PARENT, CHILD, CHILD);
	assert_string_equal(sampled_as(CHILD, "worker")->comm, "worker");
}

static void an_exec_gives_a_process_its_name(void **state)
{
	(void)state;
	forks(1, PARENT, PARENT);
	(void)sampled_as(PARENT, "before");
	process_table_apply(&table, &(struct sideband_record){
					    .type = SIDEBAND_EXEC, .pid = PARENT, .comm = "new" });
	assert_string_equal(sampled_as(PARENT, "renamed")->comm, "new");
}

static void a_deleted_program_has_its_path_without_the_kernels_remark(void **state)
{
	(void)state;
	forks(1, PARENT, PARENT);
	(void)sampled_as(PARENT, "before");
	process_table_apply(&table, &(struct sideband_record){ .type = SIDEBAND_EXEC,
							       .pid = PARENT,
							       .path = STR("/bin/x (deleted)") });
	assert_string_equal(sampled_as(PARENT, "x")->image->exe, "/bin/x");
}

static void a_process_that_maps_by_the_thousand_is_muted_and_read_instead(void **state)
{
	(void)state;
	uint64_t count = map_until_muted(PARENT, second(1));

	assert_in_range(count, 1000, 4000);
	assert_int_equal(table.muted_processes, 1);
	assert_int_equal(table.muted_events, 1);
	assert_true(maps_at(CHILD, second(1), 0)); /* not the others */
	(void)sampled(PARENT, 5, 1);
	assert_int_equal(table.scanned, 1);
	assert_false(maps_at(PARENT, second(1) + MUTED_MS * NS_PER_MS - 1, 0));
	assert_true(maps_at(PARENT, second(1) + MUTED_MS * NS_PER_MS, 0));
	assert_int_equal(table.muted_processes, 1);
}

static void a_process_that_maps_a_thousand_in_two_seconds_is_not_muted(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 2000; i++)
		assert_true(maps_at(PARENT, second(1) + i * NS_PER_MS, i * 0x1000));
	assert_int_equal(table.muted_processes, 0);
}

static void a_child_is_muted_with_its_parent(void **state)
{
	(void)state;
	(void)map_until_muted(PARENT, second(1));
	forks(PARENT, CHILD, CHILD);
	assert_false(maps_at(CHILD, second(1), 0));
}

static void all_mappings_together_are_bounded(void **state)
{
	enum { OF_EACH = 4096 };

	(void)state;
	for (uint32_t pid = 0; pid < 2 * MAPPINGS_ALL_MAX / OF_EACH; pid++)
		for (uint64_t i = 0; i < OF_EACH; i++)
			(void)maps_at(CHILD - pid, second(1 + i / 1000), i * 0x1000);
	assert_in_range(process_table_mappings(&table), MAPPINGS_ALL_MAX / 2, MAPPINGS_ALL_MAX);
	assert_true(table.mappings_over_limit >= MAPPINGS_ALL_MAX / 2);

	(void)sampled(CHILD, 5, 1);
	process_table_begin_round(&table, second(20));
	assert_int_equal(process_table_mappings(&table), 0);
}

static void copies_of_a_large_image_are_bounded(void **state)
{
	enum { OF_EACH = 1024, CHILDREN = 2 * MAPPINGS_ALL_MAX / OF_EACH };

	(void)state;
	for (uint64_t i = 0; i < OF_EACH; i++)
		(void)maps_at(PARENT, second(1), i * 0x1000);
	for (uint32_t i = 1; i <= CHILDREN; i++) {
		forks(PARENT, PARENT - i, PARENT - i);
		(void)maps_at(PARENT - i, second(3), OF_EACH * 0x1000);
	}
	assert_in_range(process_table_mappings(&table), MAPPINGS_ALL_MAX / 2,
			MAPPINGS_ALL_MAX + CHILDREN * OF_EACH);
	assert_true(table.mappings_over_limit >= CHILDREN / 3);
}

static void before_the_first_scan_reaches_a_process_its_child_inherits_from_it(void **state)
{
	(void)state;
	process_table_first_scan(&table);
	forks((uint32_t)getpid(), CHILD, CHILD);

	const struct process *child = sampled(CHILD, 6, 1);

	assert_non_null(child->image);
	assert_string_equal(child->image->exe, sampled_self(1)->image->exe);
	assert_int_equal(table.scanned, 1);
}

static void before_the_first_scan_reaches_a_process_a_mapping_is_not_its_only_one(void **state)
{
	(void)state;
	process_table_first_scan(&table);
	maps((uint32_t)getpid(), 0x10000, "/lib/late.so");

	const struct process *self = sampled_self(1);

	assert_string_equal(path_at(self, 0x10000), "/lib/late.so");
	assert_non_null(mappings_find(&self->image->mappings, (uintptr_t)sampled_self));
}

static void the_first_scan_reads_each_process_once_in_pieces(void **state)
{
	(void)state;
	process_table_first_scan(&table);
	(void)sampled_self(1);
	process_table_scan_more(&table, 1);
	assert_in_range(table.by_pid.len, 1, 2);
	for (uint64_t i = 1; table.first_scan; i++) {
		process_table_begin_round(&table, second(i));
		process_table_scan_more(&table, SIZE_MAX);
	}

	/* A process that ended after the directory was read is in the table, and was not read. */
	size_t listed = table.by_pid.len;

	process_table_sweep(&table);
	process_table_retire(&table, UINT64_MAX);
	assert_in_range(table.scanned, table.by_pid.len, listed);
}

static void a_sweep_ends_processes_that_do_not_exist(void **state)
{
	(void)state;
	sampled_self(1);
	execs(PARENT, 1);
	process_table_sweep(&table);
	process_table_retire(&table, UINT64_MAX);
	assert_int_equal(table.by_pid.len, 1);
}

static void a_vfork_child_sets_the_start_of_its_parent(void **state)
{
	struct sample_record record = {
		.tgid = CHILD, .start_ns = 9, .exec_id = 4, .owner_start_ns = 5
	};
	struct process *child, *owner;

	(void)state;
	execs(PARENT, 1); /* no sample of it yet */
	forks(PARENT, CHILD, CHILD);
	child = process_of_sample(&table, &record, 1000);
	owner = process_owner(&table, child, &record);

	assert_non_null(owner);
	assert_int_equal(owner->pid, PARENT);
	assert_int_equal(owner->start_ns, 5);
	assert_true(owner->exec_id_known);
	assert_int_equal(owner->exec_id, 4);

	record.owner_start_ns = 6; /* another process had that pid */
	assert_null(process_owner(&table, child, &record));
	record.owner_start_ns = 0; /* it has its own memory */
	assert_null(process_owner(&table, child, &record));
	record.owner_start_ns = 5;
	exits(PARENT, PARENT, 7);
	assert_null(process_owner(&table, child, &record));
}

static void is_bounded(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < PROCESSES_MAX + 10; i++)
		forks(1, PARENT - i, PARENT - i);
	assert_int_equal(table.by_pid.len, PROCESSES_MAX);
	assert_int_equal(table.over_limit, 10);
	assert_null(sampled(1000, 5, 1));
}

/* Of all these processes only this test itself exists. */
static void processes_that_are_not_sampled_leave_a_crowded_table(void **state)
{
	uint32_t self = (uint32_t)getpid();
	struct sample_record record = { .tgid = self, .start_ns = 5 };

	(void)state;
	forks(1, self, self);
	process_table_sweep(&table);
	process_table_retire(&table, UINT64_MAX);
	assert_int_equal(table.by_pid.len, 1);

	for (uint32_t i = 0; !process_table_is_crowded(&table); i++)
		forks(self, PARENT - i, PARENT - i);
	process_table_sweep(&table);
	process_table_retire(&table, UINT64_MAX);
	assert_int_equal(table.by_pid.len, 0);

	for (uint32_t i = 0; !process_table_is_crowded(&table); i++)
		forks(self, PARENT - i, PARENT - i);
	(void)process_of_sample(&table, &record, clock_monotonic_ns() / NS_PER_MS);
	process_table_sweep(&table);
	process_table_retire(&table, UINT64_MAX);
	assert_int_equal(table.by_pid.len, 1); /* it was sampled lately */
}

#define IN_A_TABLE(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_TABLE(a_fork_inherits_and_then_changes_independently),
		IN_A_TABLE(exec_begins_a_program_named_by_its_first_mapping),
		IN_A_TABLE(during_exec_the_old_mappings_are_used),
		IN_A_TABLE(a_process_lives_until_its_last_thread_ends),
		IN_A_TABLE(exec_ends_the_other_threads),
		IN_A_TABLE(a_reused_pid_is_another_process),
		IN_A_TABLE(a_reused_pid_is_recognized_by_its_start),
		IN_A_TABLE(a_process_without_events_is_read_from_proc),
		IN_A_TABLE(an_exec_without_event_is_detected_by_its_count),
		IN_A_TABLE(after_a_loss_only_a_sampled_process_is_read_again),
		IN_A_TABLE(while_events_are_lost_a_process_is_read_once_a_second),
		IN_A_TABLE(a_read_that_changes_nothing_keeps_the_image),
		IN_A_TABLE(without_budget_a_process_is_read_later),
		IN_A_TABLE(code_that_moved_over_a_closed_library_loses_its_name),
		IN_A_TABLE(a_process_that_generates_code_is_read_at_a_bounded_pace),
		IN_A_TABLE(files_that_found_no_place_are_known_when_there_is_room),
		IN_A_TABLE(a_process_whose_mappings_could_not_be_read_waits),
		IN_A_TABLE(files_of_processes_that_are_not_sampled_give_way),
		IN_A_TABLE(a_missed_exec_without_budget_leaves_no_names_of_the_program_before),
		IN_A_TABLE(a_process_with_many_mappings_is_read_in_the_time_for_large_ones),
		IN_A_TABLE(a_process_keeps_the_name_of_its_first_sample),
		IN_A_TABLE(an_exec_gives_a_process_its_name),
		IN_A_TABLE(a_deleted_program_has_its_path_without_the_kernels_remark),
		IN_A_TABLE(a_process_that_maps_by_the_thousand_is_muted_and_read_instead),
		IN_A_TABLE(a_process_that_maps_a_thousand_in_two_seconds_is_not_muted),
		IN_A_TABLE(a_child_is_muted_with_its_parent),
		IN_A_TABLE(all_mappings_together_are_bounded),
		IN_A_TABLE(copies_of_a_large_image_are_bounded),
		IN_A_TABLE(before_the_first_scan_reaches_a_process_its_child_inherits_from_it),
		IN_A_TABLE(before_the_first_scan_reaches_a_process_a_mapping_is_not_its_only_one),
		IN_A_TABLE(the_first_scan_reads_each_process_once_in_pieces),
		IN_A_TABLE(a_sweep_ends_processes_that_do_not_exist),
		IN_A_TABLE(a_vfork_child_sets_the_start_of_its_parent),
		IN_A_TABLE(is_bounded),
		IN_A_TABLE(processes_that_are_not_sampled_leave_a_crowded_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
