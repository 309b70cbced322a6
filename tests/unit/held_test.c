// SPDX-License-Identifier: Apache-2.0
#include "agent_limits.h"
#include "base/clock.h"
#include "held.h"
#include "test.h"

enum { STACK = 4096, SEEN_MAX = 8, NOW = 1000 };

/* A record as it comes out of the ring, with its tail. */
static union {
	struct sample_record record;
	uint8_t bytes[SAMPLE_BYTES_MAX];
} sent;

static struct executable library, other;
static struct process process;

static struct seen {
	size_t count;
	uint64_t times[SEEN_MAX];
	const struct process_image *images[SEEN_MAX];
	struct held *held; /* each is held once more in there, for `other` */
} seen;

static void set_up(struct held *held)
{
	*held = (struct held){ 0 };
	seen = (struct seen){ 0 };
	library = (struct executable){ .unwind.state = UNWIND_TABLE_ASKED };
	other = (struct executable){ .unwind.state = UNWIND_TABLE_THERE };
	process = (struct process){ .pid = 7, .image = process_image_new() };
}

static void tear_down(struct held *held)
{
	held_done(held);
	process_image_give(process.image);
}

static const struct sample_record *record_at(uint64_t time_ns)
{
	sent.record.time_ns = time_ns;
	sent.record.user_frames = 2;
	sent.record.stack_bytes = STACK;
	sent.bytes[sample_bytes(&sent.record) - 1] = (uint8_t)time_ns;
	return &sent.record;
}

static bool keep(struct held *held, uint64_t time_ns, const struct executable *executable)
{
	return held_keep(held, record_at(time_ns), &process, executable, NOW);
}

static void take(void *self, const struct sample_record *record, const struct process *at,
		 uint64_t since_ns)
{
	const uint8_t *bytes = (const uint8_t *)record;

	(void)self;
	assert_int_equal(since_ns, NOW);
	assert_int_equal(at->pid, 7);
	assert_int_equal(bytes[sample_bytes(record) - 1], (uint8_t)record->time_ns);
	assert_true(seen.count < SEEN_MAX);
	seen.times[seen.count] = record->time_ns;
	seen.images[seen.count++] = at->image;
	if (seen.held)
		assert_true(held_keep(seen.held, record, at, &other, since_ns));
}

static const struct held_sink sink = { .sample = take };

static void a_sample_waits_until_its_table_is_loaded(void **state)
{
	struct held held;

	(void)state;
	set_up(&held);
	assert_true(keep(&held, 1, &library));

	for (enum unwind_table_state at = UNWIND_TABLE_WANTED; at <= UNWIND_TABLE_THERE; at++) {
		library.unwind.state = at;
		held_run(&held, NOW, &sink);
		assert_int_equal(seen.count, 0);
	}
	library.unwind.state = UNWIND_TABLE_LOADED;
	held_run(&held, NOW, &sink);

	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.times[0], 1);
	assert_int_equal(held.ends[HELD_LOADED], 1);
	assert_int_equal(held.count, 0);
	assert_int_equal(held.bytes, 0);
	tear_down(&held);
}

static void a_table_that_cannot_be_had_ends_the_wait(void **state)
{
	struct held held;

	(void)state;
	set_up(&held);
	assert_true(keep(&held, 1, &library));
	assert_true(keep(&held, 2, &other));

	library.unwind.state = UNWIND_TABLE_FAILED;
	other.unwind.state = UNWIND_TABLE_NONE; /* it had to leave, or will be tried again */
	held_run(&held, NOW, &sink);

	assert_int_equal(seen.count, 2);
	assert_int_equal(held.ends[HELD_NO_TABLE], 2);
	tear_down(&held);
}

static void no_wait_is_longer_than_the_limit(void **state)
{
	uint64_t over_ns = NOW + HELD_MS_MAX * NS_PER_MS;
	struct held held;

	(void)state;
	set_up(&held);
	assert_true(keep(&held, 1, &library));

	held_run(&held, over_ns - 1, &sink);
	assert_int_equal(seen.count, 0);
	held_run(&held, over_ns, &sink);

	assert_int_equal(seen.count, 1);
	assert_int_equal(held.ends[HELD_TIMED_OUT], 1);
	assert_true(held_is_long(NOW, over_ns) && !held_is_long(NOW, over_ns - 1));
	tear_down(&held);
}

static void what_is_held_again_waits_for_the_next_table(void **state)
{
	struct held held;

	(void)state;
	set_up(&held);
	assert_true(keep(&held, 1, &library));
	assert_true(keep(&held, 2, &other));
	assert_true(keep(&held, 3, &library));
	seen.held = &held;
	library.unwind.state = UNWIND_TABLE_LOADED;
	held_run(&held, NOW, &sink);
	assert_int_equal(seen.count, 2);
	assert_int_equal(held.count, 3);

	seen = (struct seen){ 0 };
	other.unwind.state = UNWIND_TABLE_LOADED;
	held_run(&held, NOW, &sink);

	assert_int_equal(seen.count, 3); /* and in their order */
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(seen.times[i], i + 1);
	tear_down(&held);
}

static void the_process_stays_as_it_was_at_the_tick(void **state)
{
	const struct process_image *then;
	struct held held;

	(void)state;
	set_up(&held);
	then = process.image;
	assert_true(keep(&held, 1, &library));

	assert_ptr_not_equal(process_image_own(&process.image), then);
	held_stop(&held, &sink);

	assert_int_equal(seen.count, 1);
	assert_ptr_equal(seen.images[0], then);
	assert_int_equal(held.ends[HELD_STOPPED], 1);
	tear_down(&held);
}

static void more_than_there_is_room_for_is_refused_and_counted(void **state)
{
	struct held held;
	size_t kept = 0;

	(void)state;
	set_up(&held);
	while (keep(&held, 1, &library))
		kept++;

	assert_true(kept > 100 && kept * STACK < HELD_BYTES_MAX);
	assert_int_equal(held.count, kept);
	assert_true(held.bytes <= HELD_BYTES_MAX);
	assert_int_equal(held.refused, 1);
	tear_down(&held); /* leaves none: the sanitizer would tell */
	assert_int_equal(held.bytes, 0);
}

RUN_TESTS(TEST(a_sample_waits_until_its_table_is_loaded),
	  TEST(a_table_that_cannot_be_had_ends_the_wait), TEST(no_wait_is_longer_than_the_limit),
	  TEST(what_is_held_again_waits_for_the_next_table),
	  TEST(the_process_stays_as_it_was_at_the_tick),
	  TEST(more_than_there_is_room_for_is_refused_and_counted))
