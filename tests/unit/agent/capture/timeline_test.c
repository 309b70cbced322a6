// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/timeline_internal.h"
#include "bpf/unwind_machine.h"
#include "support/test.h"

#include <stdio.h>

static char output[256];

static void on_event(void *self, const struct sideband_record *record)
{
	size_t len = strlen(output);

	(void)self;
	snprintf(output + len, sizeof(output) - len, "e%d" STR_FMT " ", (int)record->time_ns,
		 STR_ARG(record->path));
}

static void on_sample(void *self, const struct sample_record *record)
{
	size_t len = strlen(output);

	(void)self;
	snprintf(output + len, sizeof(output) - len, "s%d/%d ", (int)record->time_ns,
		 (int)record->frames[0]);
}

static const struct timeline_sink sink = { .event = on_event, .sample = on_sample };

static void ignore_event(void *self, const struct sideband_record *record)
{
	(void)self;
	(void)record;
}

static void ignore_sample(void *self, const struct sample_record *record)
{
	(void)self;
	(void)record;
}

static const struct timeline_sink none = { .event = ignore_event, .sample = ignore_sample };

static void add_event(struct timeline *timeline, uint64_t time_ns, const char *path)
{
	char borrowed[8];

	snprintf(borrowed, sizeof(borrowed), "%s", path);
	timeline_add_event(timeline, &(struct sideband_record){ .time_ns = time_ns,
								.path = str_from(borrowed) });
}

static void add_sample(struct timeline *timeline, uint64_t time_ns)
{
	struct sample_record record = { .time_ns = time_ns, .user_frames = 1, .frames = { 5 } };

	timeline_add_sample(timeline, &record, offsetof(struct sample_record, frames) + 8);
}

static void hands_over_in_the_order_of_time_events_first(void **state)
{
	struct timeline timeline = { 0 };

	(void)state;
	output[0] = 0;
	add_sample(&timeline, 20);
	add_event(&timeline, 20, "a");
	add_event(&timeline, 20, "b");
	add_sample(&timeline, 10);
	add_event(&timeline, 15, "c");
	timeline_run(&timeline, 100, &sink);
	assert_string_equal(output, "s10/5 e15c e20a e20b s20/5 ");
	timeline_done(&timeline);
}

static void keeps_too_new_records_for_the_next_round(void **state)
{
	struct timeline timeline = { 0 };

	(void)state;
	output[0] = 0;
	add_event(&timeline, 30, "late");
	add_sample(&timeline, 31);
	add_sample(&timeline, 5);
	timeline_run(&timeline, 10, &sink);
	assert_string_equal(output, "s5/5 ");
	add_event(&timeline, 29, "later");
	timeline_run(&timeline, 30, &sink);
	assert_string_equal(output, "s5/5 e29later e30late ");
	timeline_run(&timeline, 31, &sink);
	assert_string_equal(output, "s5/5 e29later e30late s31/5 ");
	timeline_done(&timeline);
}

static void add_of(struct timeline *timeline, enum sideband_type type, uint32_t pid,
		   uint64_t time_ns, const char *path)
{
	timeline_add_event(timeline, &(struct sideband_record){ .type = type,
								.pid = pid,
								.time_ns = time_ns,
								.path = str_from(path) });
}

static void sets_the_path_of_an_exec_from_the_next_mapping(void **state)
{
	struct timeline timeline = { 0 };

	(void)state;
	output[0] = 0;
	add_of(&timeline, SIDEBAND_MAP, 7, 1, "/old");
	add_of(&timeline, SIDEBAND_EXEC, 7, 2, "");
	add_of(&timeline, SIDEBAND_MAP, 8, 3, "/other");
	add_of(&timeline, SIDEBAND_MAP, 7, 4, "[vdso]");
	add_of(&timeline, SIDEBAND_MAP, 7, 50,
	       "/new"); /* it waits, but its path is used nevertheless */
	add_of(&timeline, SIDEBAND_MAP, 7, 60, "/ld.so");
	add_of(&timeline, SIDEBAND_EXEC, 9, 5, "");
	timeline_run(&timeline, 5, &sink);
	assert_string_equal(output, "e1/old e2/new e3/other e4[vdso] e5 ");
	timeline_done(&timeline);
}

static void add_fork(struct timeline *timeline, uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	timeline_add_event(timeline, &(struct sideband_record){ .type = SIDEBAND_FORK,
								.pid = pid,
								.parent_pid = parent_pid,
								.time_ns = time_ns,
								.path = STR("fork") });
}

static void drops_the_events_of_brief_processes(void **state)
{
	struct sample_record sample = { .time_ns = 14, .tgid = 8, .user_frames = 1 };
	struct timeline timeline = { 0 };

	(void)state;
	output[0] = 0;
	for (uint32_t pid = 7; pid <= 8; pid++) { /* only 8 is sampled */
		add_fork(&timeline, pid, 1, pid);
		add_of(&timeline, SIDEBAND_MAP, pid, 10, "map");
		add_of(&timeline, SIDEBAND_EXIT, pid, 14, "exit");
	}
	timeline_add_sample(&timeline, &sample, offsetof(struct sample_record, frames) + 8);
	add_fork(&timeline, 9, 1, 9); /* it goes on */
	timeline_run(&timeline, 12, &sink);
	assert_string_equal(output, "e8fork e9fork e10map ");
	assert_int_equal(timeline.brief_events, 3);

	add_of(&timeline, SIDEBAND_EXIT, 9, 20, "exit");
	timeline_run(&timeline, 20, &sink);
	assert_string_equal(output, "e8fork e9fork e10map e14exit s14/0 e20exit ");
	assert_int_equal(timeline.brief_events, 3);
	timeline_done(&timeline);
}

static void keeps_records_that_wait_for_many_rounds(void **state)
{
	enum { ROUNDS = 5 };
	struct timeline timeline = { 0 };

	(void)state;
	output[0] = 0;
	add_event(&timeline, 1000, "far");
	add_sample(&timeline, 1001);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		add_event(&timeline, i, "now");
		timeline_run(&timeline, i, &none);
	}
	timeline_run(&timeline, 1001, &sink);
	assert_string_equal(output, "e1000far s1001/5 ");
	timeline_done(&timeline);
}

/* Rings of many CPUs, read after a long stop, may hold more than that. */
static void counts_records_beyond_its_memory_limit(void **state)
{
	struct timeline timeline = { 0 };
	struct sample_record *record = calloc(1, sizeof(*record));
	uint64_t kept = 0;

	(void)state;
	if (!record)
		abort();
	record->user_frames = USER_FRAMES_MAX;
	while (!timeline.dropped_samples && kept < TIMELINE_BYTES_MAX) {
		timeline_add_sample(&timeline, record, sizeof(*record));
		kept += !timeline.dropped_samples;
	}
	timeline_add_sample(&timeline, record, sizeof(*record));
	add_event(&timeline, 1, "gone");

	REASON_MOVED("agent.timeline_full", timeline.dropped_samples, 2);
	assert_int_equal(timeline.dropped_events, 1);
	assert_in_range(kept * sizeof(*record), TIMELINE_BYTES_MAX / 2, TIMELINE_BYTES_MAX);

	timeline_run(&timeline, 100, &none);
	add_sample(&timeline, 100);
	assert_int_equal(timeline.dropped_samples, 2);
	timeline_done(&timeline);
	free(record);
}

/* A record with this much of a stack, which holds its own addresses, from an address on. */
static const struct sample_record *shipped(uint64_t time_ns, uint32_t flags, uint64_t from,
					   uint16_t bytes)
{
	static union {
		struct sample_record record;
		uint8_t bytes[SAMPLE_BYTES_MAX];
	} made;
	struct sample_registers registers = { .pc = 7 };

	registers.general[UNWIND_STACK_POINTER] = from;
	made.record = (struct sample_record){
		.time_ns = time_ns, .tid = 3, .cpu = 1, .flags = flags, .stack_bytes = bytes
	};
	if (!(flags & SAMPLE_CONTINUES))
		made.record.user_frames = 1;

	uint8_t *tail = made.bytes + sample_tail_at(&made.record);

	memcpy(tail, &registers, sizeof(registers));

	uint64_t begin = unwind_stack_from(&made.record);

	for (uint64_t at = begin; at < begin + bytes; at += sizeof(at))
		memcpy(tail + sizeof(registers) + (at - begin), &at, sizeof(at));
	return &made.record;
}

static uint64_t stack_seen;

static void see_stack(void *self, const struct sample_record *record)
{
	const uint64_t *words = (const uint64_t *)(const void *)(sample_registers(record) + 1);

	(void)self;
	assert_int_equal(record->user_frames, 1);
	assert_int_equal(sample_registers(record)->pc, 7);
	for (uint64_t i = 0; i < record->stack_bytes / sizeof(*words); i++)
		assert_int_equal(words[i], 0x1000 + i * sizeof(*words));
	stack_seen = record->stack_bytes;
}

static void joins_a_stack_from_its_continuation_records(void **state)
{
	enum { PART = SAMPLE_STACK_BYTES_MAX };
	static const struct {
		uint64_t time_ns, from;
	} rows[] = {
		{ 10, 0x1000 + PART },     /* what follows */
		{ 10, 0x1000 + PART },     /* that was there already */
		{ 11, 0x1000 + 2 * PART }, /* another sample's */
		{ 10, 0x1000 + 2 * PART }, /* in a later round */
		{ 10, 0x1000 + 3 * PART }, /* beyond the limit */
	};
	const struct timeline_sink see = { .event = ignore_event, .sample = see_stack };
	/* Its pointer, and the same bytes behind a page that was not there. */
	static const struct {
		uint64_t from;
		uint32_t flags;
	} firsts[] = { { 0x1004, 0 }, { 0x0ff8, 1 << SAMPLE_SKIPPED_AT } };

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(firsts); k++) {
		struct timeline timeline = { 0 };
		const struct sample_record *record =
			shipped(10, firsts[k].flags, firsts[k].from, PART);

		timeline_add_sample(&timeline, record, sample_bytes(record));
		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			timeline_add_stack(&timeline, shipped(rows[i].time_ns, SAMPLE_CONTINUES,
							      rows[i].from, PART));
			timeline_run(&timeline, 9, &none); /* it waits, and moves */
		}
		stack_seen = 0;
		timeline_run(&timeline, 10, &see);
		assert_int_equal(stack_seen, SAMPLE_STACK_WHOLE_MAX);
		REASON_MOVED("agent.stack_part_no_sample", timeline.dropped_stacks[STACK_NO_SAMPLE],
			     1);
		REASON_MOVED("agent.stack_part_gap", timeline.dropped_stacks[STACK_GAP], 2);

		timeline_add_stack(&timeline, shipped(10, SAMPLE_CONTINUES, 0x1000 + PART, PART));
		assert_int_equal(timeline.dropped_samples, 0);
		timeline_done(&timeline);
	}
}

static void counts_a_part_of_a_stack_beyond_its_memory_limit(void **state)
{
	enum { PART = SAMPLE_STACK_BYTES_MAX };
	struct timeline timeline = { 0 };
	const struct sample_record *record;

	(void)state;
	while (!timeline.dropped_samples) {
		record = shipped(10, 0, 0x1004, PART);
		timeline_add_sample(&timeline, record, sample_bytes(record));
	}
	timeline_add_stack(&timeline, shipped(10, SAMPLE_CONTINUES, 0x1000 + PART, PART));

	REASON_MOVED("agent.stack_part_timeline_full", timeline.dropped_stacks[STACK_TIMELINE_FULL],
		     1);
	timeline_done(&timeline);
}

RUN_TESTS(TEST(sets_the_path_of_an_exec_from_the_next_mapping),
	  TEST(hands_over_in_the_order_of_time_events_first),
	  TEST(keeps_too_new_records_for_the_next_round),
	  TEST(keeps_records_that_wait_for_many_rounds), TEST(drops_the_events_of_brief_processes),
	  TEST(joins_a_stack_from_its_continuation_records),
	  TEST(counts_a_part_of_a_stack_beyond_its_memory_limit),
	  TEST(counts_records_beyond_its_memory_limit))
