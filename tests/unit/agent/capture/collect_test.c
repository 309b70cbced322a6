// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/collect.h"
#include "profile/profile_type.h"
#include "support/test.h"

enum { PERIOD = 52631578, OFFSET_NS = 1000000000 };

/* A program at 0x1000-0x3000 whose second page of code is linked 0x100000 higher. */
static struct elf_segment segments[] = {
	{ .offset = 0, .size = 0x1000, .address = 0, .executable = true },
	{ .offset = 0x1000, .size = 0x1000, .address = 0x101000, .executable = true }
};
static struct executable program = { .path = "/bin/burn",
				     .build_id = "c0ffee",
				     .segments = segments,
				     .segment_count = ARRAY_LEN(segments) };

static char exe[] = "/bin/burn";

struct fixture {
	struct collect collect;
	struct kernel_symbols kernel;
	struct process_image image;
	struct process process;
};

static void set_up(struct fixture *fixture)
{
	*fixture = (struct fixture){ 0 };
	collect_init(&fixture->collect,
		     &(struct collect_options){ .node = STR("host-1"), .period_ns = PERIOD });
	collect_begin(&fixture->collect, OFFSET_NS);
	assert_true(
		mappings_insert(&fixture->image.mappings,
				(struct mapping){ .start = 0x1000,
						  .end = 0x3000,
						  .executable = executable_reference(&program) }));
	fixture->image.exe = exe;
	fixture->process = (struct process){ .pid = 7, .image = &fixture->image };
}

static void tear_down(struct fixture *fixture)
{
	mappings_done(&fixture->image.mappings);
	collect_done(&fixture->collect);
}

/* A tick of thread 8 of process 7, with these user frames, leaf first. */
static void tick(struct fixture *fixture, const struct process *process, const uint64_t *user,
		 uint16_t count)
{
	struct sample_record record = {
		.time_ns = 5 * 1000000,
		.tgid = 7,
		.tid = 8,
		.cpu = 1,
		.user_frames = count,
		.comm = "burn",
		.thread_comm = "worker",
	};

	memcpy(record.frames, user, count * sizeof(*user));
	collect_sample(&fixture->collect, &record, process, &fixture->kernel);
}

static const struct frame *frame_of(const struct fixture *fixture, size_t at)
{
	const struct sample_set *set = &fixture->collect.set;
	struct stack stack = set->stacks.items[set->samples.items[0].stack];

	assert_in_range(at, 0, stack.len - 1);
	return &set->frames.items[stack.frames[at]];
}

static size_t depth(const struct fixture *fixture)
{
	const struct sample_set *set = &fixture->collect.set;

	return set->stacks.items[set->samples.items[0].stack].len;
}

static void a_frame_has_the_path_of_its_mapping_and_the_address_of_its_file(void **state)
{
	static const uint64_t user[] = { 0x5010 };
	static struct executable copy = { .path = "/releases/2/burn", .same_as = &program };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	assert_true(mappings_insert(&fixture.image.mappings,
				    (struct mapping){ .start = 0x5000,
						      .end = 0x6000,
						      .executable = executable_reference(&copy) }));
	tick(&fixture, &fixture.process, user, 1);
	assert_true(str_eq(frame_of(&fixture, 0)->path, STR("/releases/2/burn")));
	assert_true(str_eq(frame_of(&fixture, 0)->build_id, STR("c0ffee")));
	assert_int_equal(frame_of(&fixture, 0)->address, 0x10);
	tear_down(&fixture);
}

static void a_sample_has_its_process_time_and_value(void **state)
{
	static const uint64_t user[] = { 0x1010 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	tick(&fixture, &fixture.process, user, 1);

	const struct sample_set *set = &fixture.collect.set;
	const struct sample *sample = &set->samples.items[0];
	const struct series *series = &set->series.items[sample->series];
	struct labels labels = set->label_sets.items[sample->labels];

	assert_int_equal(sample->value, PERIOD);
	assert_int_equal(sample->time_ms, 1005);
	assert_true(str_eq(series->type, STR(PROFILE_TYPE_CPU)));
	assert_int_equal(series->period, PERIOD);
	assert_true(str_eq(labels_get(series->labels, STR("node")), STR("host-1")));
	assert_true(str_eq(labels_get(series->labels, STR("comm")), STR("burn")));
	assert_true(str_eq(labels_get(series->labels, STR("exe")), STR("/bin/burn")));
	assert_true(str_eq(labels_get(labels, STR("pid")), STR("7")));
	assert_true(str_eq(labels_get(labels, STR("thread_id")), STR("8")));
	assert_true(str_eq(labels_get(labels, STR("thread_name")), STR("worker")));
	assert_true(str_eq(labels_get(labels, STR("cpu")), STR("1")));
	tear_down(&fixture);
}

static void frames_are_root_first_with_the_addresses_of_calls_in_the_file(void **state)
{
	static const uint64_t user[] = { 0x1010, 0x2021 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	tick(&fixture, &fixture.process, user, 2);

	assert_int_equal(depth(&fixture), 2);
	assert_int_equal(frame_of(&fixture, 0)->address, 0x101020); /* the call, not its return */
	assert_int_equal(frame_of(&fixture, 1)->address, 0x10);     /* where it stood */
	assert_true(str_eq(frame_of(&fixture, 0)->build_id, STR("c0ffee")));
	assert_true(str_eq(frame_of(&fixture, 0)->path, STR("/bin/burn")));
	tear_down(&fixture);
}

static void a_long_path_is_in_memory_once_and_not_for_each_frame(void **state)
{
	enum { PATH = 3600, STACKS = 40, FRAMES = 100 };
	char path[PATH + 1] = { 0 };
	struct executable deep = program;
	uint64_t user[FRAMES];
	struct fixture fixture;

	(void)state;
	memset(path, 'd', PATH);
	path[0] = '/';
	path[PATH - 1] = '\xff'; /* also a text that must be cleaned */
	deep.path = path;
	set_up(&fixture);
	fixture.image.mappings.items[0].executable = &deep;
	for (uint64_t i = 0; i < STACKS; i++) {
		for (uint64_t j = 0; j < FRAMES; j++)
			user[j] = 0x1100 + 2 * (i * FRAMES + j) % 0x1f00;
		tick(&fixture, &fixture.process, user, FRAMES);
	}

	const struct frame *first = frame_of(&fixture, 0), *second = frame_of(&fixture, 1);

	assert_true(fixture.collect.set.frames.len > 3000);
	assert_int_equal(first->path.len, PATH);
	assert_int_equal(first->path.ptr[PATH - 1], '?');
	assert_ptr_equal(first->path.ptr, second->path.ptr);
	assert_true(fixture.collect.arena.size < (4 << 20));
	fixture.image.mappings.items[0].executable = &program;
	tear_down(&fixture);
}

static void a_stack_is_truncated_where_it_leaves_the_mappings(void **state)
{
	static const uint64_t user[] = { 0x1010, 0xffffffffffffffff, 0x2021 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	tick(&fixture, &fixture.process, user, 3);

	assert_int_equal(depth(&fixture), 2);
	assert_true(str_eq(frame_of(&fixture, 0)->function, STR("[truncated: user_unmapped]")));
	assert_int_equal(frame_of(&fixture, 1)->address, 0x10);
	REASON_MOVED("agent.user_unmapped", fixture.collect.truncated_unmapped, 1);
	assert_int_equal(fixture.collect.unmapped, 0);
	tear_down(&fixture);
}

static void a_truncated_stack_has_the_reason_as_its_root(void **state)
{
	(void)state;
	for (int end = USER_END_NONE; end < USER_END_COUNT; end++) {
		struct sample_record record = { .user_frames = 1,
						.user_end = (uint16_t)end,
						.frames = { 0x1010 } };
		bool is_truncated = end > USER_END_COMPLETE;
		char expected[FRAME_TRUNCATED_MAX];
		struct fixture fixture;

		set_up(&fixture);
		collect_sample(&fixture.collect, &record, &fixture.process, &fixture.kernel);
		snprintf(expected, sizeof(expected), "[truncated: user_%s]", user_end_names[end]);
		assert_int_equal(depth(&fixture), is_truncated ? 2 : 1);
		assert_true(str_eq(frame_of(&fixture, 0)->function,
				   is_truncated ? str_from(expected) : STR("")));
		assert_true(str_eq(frame_of(&fixture, 0)->type,
				   is_truncated ? STR("abort-marker") : STR("native")));
		tear_down(&fixture);
	}
}

static void missing_kernel_frames_have_their_reason_below_the_user_stack(void **state)
{
	struct sample_record record = { .flags = SAMPLE_KERNEL_TOO_DEEP,
					.kernel_frames = 1,
					.user_frames = 1,
					.user_end = USER_END_COMPLETE,
					.frames = { 0xffffffff81000010, 0x1010 } };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	collect_sample(&fixture.collect, &record, &fixture.process, &fixture.kernel);
	assert_int_equal(depth(&fixture), 3);
	assert_int_equal(frame_of(&fixture, 0)->address, 0x10);
	assert_true(str_eq(frame_of(&fixture, 1)->function, STR("[truncated: kernel_too_deep]")));
	assert_true(str_eq(frame_of(&fixture, 2)->type, STR("kernel")));
	kernel_symbols_close(&fixture.kernel);
	tear_down(&fixture);
}

static void only_a_guessed_stack_has_a_label_that_says_so(void **state)
{
	struct sample_record record = { .user_frames = 1, .frames = { 0x1010 } };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	collect_sample(&fixture.collect, &record, &fixture.process, &fixture.kernel);
	record.flags = SAMPLE_GUESSED;
	collect_sample(&fixture.collect, &record, &fixture.process, &fixture.kernel);

	const struct sample_set *set = &fixture.collect.set;
	struct labels exact = set->label_sets.items[set->samples.items[0].labels];
	struct labels guessed = set->label_sets.items[set->samples.items[1].labels];

	assert_null(labels_get(exact, STR("unwind")).ptr);
	assert_true(str_eq(labels_get(guessed, STR("unwind")), STR("guess")));
	tear_down(&fixture);
}

static void a_leaf_in_no_mapping_is_kept_as_it_is(void **state)
{
	static const uint64_t user[] = { 0x9999 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	tick(&fixture, &fixture.process, user, 1);

	assert_int_equal(depth(&fixture), 1);
	assert_int_equal(frame_of(&fixture, 0)->address, 0x9999);
	assert_int_equal(frame_of(&fixture, 0)->path.len, 0);
	assert_int_equal(fixture.collect.unmapped, 1);
	tear_down(&fixture);
}

static void a_sample_of_an_unknown_process_is_kept(void **state)
{
	static const uint64_t user[] = { 0x1010, 0x2021 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	tick(&fixture, NULL, user, 2);

	const struct sample_set *set = &fixture.collect.set;

	assert_int_equal(set->samples.len, 1);
	assert_int_equal(depth(&fixture), 2);
	assert_true(str_eq(labels_get(set->series.items[0].labels, STR("comm")), STR("burn")));
	assert_null(labels_get(set->series.items[0].labels, STR("exe")).ptr);
	tear_down(&fixture);
}

static void equal_ticks_share_all_but_the_sample(void **state)
{
	static const uint64_t user[] = { 0x1010 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	for (int i = 0; i < 3; i++)
		tick(&fixture, &fixture.process, user, 1);

	assert_int_equal(fixture.collect.set.samples.len, 3);
	assert_int_equal(fixture.collect.set.series.len, 1);
	assert_int_equal(fixture.collect.set.frames.len, 1);
	collect_begin(&fixture.collect, OFFSET_NS);
	assert_int_equal(fixture.collect.set.samples.len, 0);
	tear_down(&fixture);
}

static void kernel_frames_are_at_the_leaf_with_their_names(void **state)
{
	static const uint64_t user[] = { 0x1010, 0xffffffff81000010, 0xffffffff81000020 };
	struct sample_record record = {
		.tgid = 7, .tid = 8, .user_frames = 1, .kernel_frames = 2, .comm = "a\xff\tb"
	};
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	/* the kernel's come first in a record, leaf first */
	record.frames[0] = user[1];
	record.frames[1] = user[2];
	record.frames[2] = user[0];
	kernel_symbols_apply(&fixture.kernel, &(struct sideband_record){ .type = SIDEBAND_KSYMBOL,
									 .address = user[1],
									 .length = 8,
									 .path = STR("leaf") });
	collect_sample(&fixture.collect, &record, &fixture.process, &fixture.kernel);

	assert_int_equal(depth(&fixture), 3);
	assert_int_equal(frame_of(&fixture, 0)->address, 0x10);
	assert_true(str_eq(frame_of(&fixture, 1)->function, STR("[unknown]")));
	assert_true(str_eq(frame_of(&fixture, 2)->function, STR("leaf")));
	assert_true(str_eq(frame_of(&fixture, 2)->type, STR("kernel")));
	/* bytes that are not UTF-8 become question marks */
	assert_true(str_eq(labels_get(fixture.collect.set.series.items[0].labels, STR("comm")),
			   STR("a?\tb")));
	kernel_symbols_close(&fixture.kernel);
	tear_down(&fixture);
}

static void a_sample_has_the_labels_of_its_cgroup_and_of_the_host(void **state)
{
	static const uint64_t user[] = { 0x1010 };
	static struct label external[] = { { STR("region"), STR("north") } };
	struct process_cgroup cgroup = { .names = { .path = STR("/system.slice/db.service"),
						    .container_id = STR("c0ffee"),
						    .unit = STR("db.service") } };
	struct collect_options options = { .node = STR("host-1"),
					   .period_ns = PERIOD,
					   .external = { external, 1 } };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	collect_done(&fixture.collect);
	collect_init(&fixture.collect, &options);
	collect_begin(&fixture.collect, OFFSET_NS);
	fixture.process.cgroup = &cgroup;
	tick(&fixture, &fixture.process, user, 1);

	struct labels labels = fixture.collect.set.series.items[0].labels;

	assert_true(str_eq(labels_get(labels, STR("cgroup")), cgroup.names.path));
	assert_true(str_eq(labels_get(labels, STR("container_id")), STR("c0ffee")));
	assert_true(str_eq(labels_get(labels, STR("unit")), STR("db.service")));
	assert_true(str_eq(labels_get(labels, STR("region")), STR("north")));
	tear_down(&fixture);
}

static void renaming_makes_no_series(void **state)
{
	static const uint64_t user[] = { 0x1010 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	memcpy(fixture.process.comm, "started", sizeof("started"));
	tick(&fixture, &fixture.process, user, 1); /* its comm is "burn" now */

	assert_true(str_eq(labels_get(fixture.collect.set.series.items[0].labels, STR("comm")),
			   STR("started")));
	tear_down(&fixture);
}

static uint64_t of_other_series(const struct collect *collect)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < OWNER_CLASS_COUNT; i++)
		sum += collect->of_other_series[i];
	return sum;
}

/* One sample of each of `count` processes with names of their own. */
static void tick_names(struct fixture *fixture, size_t count)
{
	static const uint64_t user[] = { 0x1010 };

	for (size_t i = 0; i < count; i++) {
		snprintf(fixture->process.comm, COMM_SIZE, "name-%d", (int)i);
		tick(fixture, &fixture->process, user, 1);
	}
}

static void beyond_the_limit_of_its_unit_names_become_other(void **state)
{
	struct process_cgroup cgroup = { .names = { .path = STR("/system.slice/ssh.service"),
						    .unit = STR("ssh.service") } };
	struct process_cgroup victim = { .names = { .path = STR("/system.slice/db.service"),
						    .unit = STR("db.service") } };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	fixture.process.cgroup = &cgroup;
	tick_names(&fixture, SERIES_OF_OWNER_MAX + 10);

	const struct sample_set *set = &fixture.collect.set;
	struct labels labels = set->series.items[SERIES_OF_OWNER_MAX].labels;

	assert_int_equal(set->series.len, SERIES_OF_OWNER_MAX + 1);
	assert_int_equal(of_other_series(&fixture.collect), 10);
	assert_true(str_eq(labels_get(labels, STR("comm")), STR("other")));
	assert_true(str_eq(labels_get(labels, STR("exe")), STR("other")));
	assert_true(str_eq(labels_get(labels, STR("cgroup")), STR("other")));
	assert_true(str_eq(labels_get(labels, STR("unit")), STR("ssh.service")));
	assert_true(str_eq(labels_get(labels, STR("node")), STR("host-1")));

	fixture.process.cgroup = &victim;
	fixture.process.owner.id = 1;
	tick_names(&fixture, 1);
	labels = set->series.items[set->series.len - 1].labels;
	assert_true(str_eq(labels_get(labels, STR("comm")), STR("name-0")));
	assert_int_equal(of_other_series(&fixture.collect), 10);
	tear_down(&fixture);
}

static void a_user_who_names_containers_has_one_limit_for_all(void **state)
{
	char id[24];
	struct process_cgroup cgroup = { .names = { .path = STR("/user.slice/user-7.slice/x"),
						    .unit = STR("user@7.service"),
						    .domain = STR("user-7.slice") } };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	fixture.process.cgroup = &cgroup;
	for (size_t i = 0; i < SERIES_OF_OWNER_MAX + 10; i++) {
		int len = snprintf(id, sizeof(id), "%d", (int)i);

		cgroup.names.container_id = (str){ id, (size_t)len };
		tick_names(&fixture, 1);
	}

	const struct sample_set *set = &fixture.collect.set;
	struct labels labels = set->series.items[SERIES_OF_OWNER_MAX].labels;

	assert_int_equal(set->series.len, SERIES_OF_OWNER_MAX + 1);
	assert_true(str_eq(labels_get(labels, STR("container_id")), STR("other")));
	assert_true(str_eq(labels_get(labels, STR("comm")), STR("other")));
	assert_true(str_eq(labels_get(labels, STR("unit")), STR("user@7.service")));
	assert_int_equal(of_other_series(&fixture.collect), 10);
	tear_down(&fixture);
}

/* With each sample another user makes a series, in other units. */
static void an_owner_that_finds_no_room_is_other_with_its_unit(void **state)
{
	char unit[24];
	struct process_cgroup cgroup = { .names = { .path = STR("/") } };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	fixture.process.cgroup = &cgroup;
	for (size_t i = 0; i < SERIES_MAX; i++) {
		int len = snprintf(unit, sizeof(unit), "run-%d.service", (int)i);

		cgroup.names.unit = (str){ unit, (size_t)len };
		fixture.process.owner.id = i;
		tick_names(&fixture, 1);
	}

	struct labels labels = fixture.collect.set.series.items[SERIES_MAX - 1].labels;

	assert_true(str_eq(labels_get(labels, STR("unit")), STR("other")));
	assert_true(str_eq(labels_get(labels, STR("comm")), STR("other")));
	assert_int_equal(of_other_series(&fixture.collect), 1);
	tear_down(&fixture);
}

static void counts_user_stacks_by_their_least_certain_step(void **state)
{
	static const struct {
		uint32_t flags;
		enum collect_step step;
	} rows[] = {
		{ SAMPLE_NEEDS_AGENT_WALK, COLLECT_BY_TABLES },
		{ SAMPLE_FRAME_POINTERS, COLLECT_BY_FRAME_POINTERS },
		{ SAMPLE_GUESSED, COLLECT_BY_GUESS },
		{ SAMPLE_GUESSED | SAMPLE_FRAME_POINTERS, COLLECT_BY_GUESS },
	};
	uint64_t expected[COLLECT_STEP_COUNT] = { 0 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sample_record record = { .flags = rows[i].flags, .user_frames = 1 };

		record.frames[0] = 0x1010;
		collect_sample(&fixture.collect, &record, &fixture.process, &fixture.kernel);
		record.user_frames = 0; /* none */
		collect_sample(&fixture.collect, &record, &fixture.process, &fixture.kernel);
		expected[rows[i].step]++;
	}
	for (size_t i = 0; i < COLLECT_STEP_COUNT; i++)
		assert_int_equal(fixture.collect.steps[i], expected[i]);
	tear_down(&fixture);
}

RUN_TESTS(TEST(a_sample_has_its_process_time_and_value),
	  TEST(a_frame_has_the_path_of_its_mapping_and_the_address_of_its_file),
	  TEST(frames_are_root_first_with_the_addresses_of_calls_in_the_file),
	  TEST(a_long_path_is_in_memory_once_and_not_for_each_frame),
	  TEST(a_stack_is_truncated_where_it_leaves_the_mappings),
	  TEST(a_leaf_in_no_mapping_is_kept_as_it_is),
	  TEST(only_a_guessed_stack_has_a_label_that_says_so),
	  TEST(a_truncated_stack_has_the_reason_as_its_root),
	  TEST(missing_kernel_frames_have_their_reason_below_the_user_stack),
	  TEST(a_sample_of_an_unknown_process_is_kept), TEST(equal_ticks_share_all_but_the_sample),
	  TEST(kernel_frames_are_at_the_leaf_with_their_names),
	  TEST(a_sample_has_the_labels_of_its_cgroup_and_of_the_host),
	  TEST(renaming_makes_no_series), TEST(beyond_the_limit_of_its_unit_names_become_other),
	  TEST(a_user_who_names_containers_has_one_limit_for_all),
	  TEST(an_owner_that_finds_no_room_is_other_with_its_unit),
	  TEST(counts_user_stacks_by_their_least_certain_step))
