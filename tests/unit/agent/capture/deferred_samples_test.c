// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/capture/deferred_samples_internal.h"
#include "base/clock.h"
#include "support/test.h"

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
	struct deferred_samples *deferred; /* each is deferred once more in there, for `other` */
} seen;

static void set_up(struct deferred_samples *deferred)
{
	*deferred = (struct deferred_samples){ 0 };
	seen = (struct seen){ 0 };
	library = (struct executable){ .unwind.state = UNWIND_TABLE_REQUESTED };
	other = (struct executable){ .unwind.state = UNWIND_TABLE_FETCHED };
	process = (struct process){ .pid = 7, .owner.id = 9, .image = process_image_new() };
}

static void tear_down(struct deferred_samples *deferred)
{
	deferred_samples_done(deferred);
	process_image_release(process.image);
}

static const struct sample_record *record_at(uint64_t time_ns)
{
	sent.record.time_ns = time_ns;
	sent.record.user_frames = 2;
	sent.record.stack_bytes = STACK;
	sent.bytes[sample_bytes(&sent.record) - 1] = (uint8_t)time_ns;
	return &sent.record;
}

static bool keep(struct deferred_samples *deferred, uint64_t time_ns,
		 const struct executable *executable)
{
	return deferred_samples_add(deferred, record_at(time_ns), &process, executable, NOW);
}

static void take(void *self, const struct sample_record *record, const struct process *at,
		 uint64_t since_ns)
{
	const uint8_t *bytes = (const uint8_t *)record;

	(void)self;
	assert_int_equal(since_ns, NOW);
	assert_int_equal(at->pid, 7);
	assert_int_equal(at->owner.id, 9);
	assert_int_equal(bytes[sample_bytes(record) - 1], (uint8_t)record->time_ns);
	assert_true(seen.count < SEEN_MAX);
	seen.times[seen.count] = record->time_ns;
	seen.images[seen.count++] = at->image;
	if (seen.deferred)
		assert_true(deferred_samples_add(seen.deferred, record, at, &other, since_ns));
}

static const struct deferred_sink sink = { .sample = take };

static void a_sample_waits_until_its_table_is_loaded(void **state)
{
	struct deferred_samples deferred;

	(void)state;
	set_up(&deferred);
	assert_true(keep(&deferred, 1, &library));

	for (enum unwind_table_state at = UNWIND_TABLE_WANTED; at <= UNWIND_TABLE_FETCHED; at++) {
		library.unwind.state = at;
		deferred_samples_run(&deferred, NOW, &sink);
		assert_int_equal(seen.count, 0);
	}
	library.unwind.state = UNWIND_TABLE_LOADED;
	deferred_samples_run(&deferred, NOW, &sink);

	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.times[0], 1);
	assert_int_equal(deferred.ends[DEFERRED_LOADED], 1);
	assert_int_equal(deferred.count, 0);
	assert_int_equal(deferred.bytes, 0);
	tear_down(&deferred);
}

static void a_table_that_cannot_be_built_ends_the_wait(void **state)
{
	struct deferred_samples deferred;

	(void)state;
	set_up(&deferred);
	assert_true(keep(&deferred, 1, &library));
	assert_true(keep(&deferred, 2, &other));

	library.unwind.state = UNWIND_TABLE_FAILED;
	other.unwind.state = UNWIND_TABLE_NONE; /* it was evicted, or will be retried */
	deferred_samples_run(&deferred, NOW, &sink);

	assert_int_equal(seen.count, 2);
	assert_int_equal(deferred.ends[DEFERRED_NO_TABLE], 2);
	tear_down(&deferred);
}

static void no_wait_is_longer_than_the_limit(void **state)
{
	uint64_t over_ns = NOW + DEFERRED_MS_MAX * NS_PER_MS;
	struct deferred_samples deferred;

	(void)state;
	set_up(&deferred);
	assert_true(keep(&deferred, 1, &library));

	deferred_samples_run(&deferred, over_ns - 1, &sink);
	assert_int_equal(seen.count, 0);
	deferred_samples_run(&deferred, over_ns, &sink);

	assert_int_equal(seen.count, 1);
	assert_int_equal(deferred.ends[DEFERRED_TIMED_OUT], 1);
	assert_true(deferred_sample_is_overdue(NOW, over_ns) &&
		    !deferred_sample_is_overdue(NOW, over_ns - 1));
	tear_down(&deferred);
}

static void a_sample_deferred_again_waits_for_the_next_table(void **state)
{
	struct deferred_samples deferred;

	(void)state;
	set_up(&deferred);
	assert_true(keep(&deferred, 1, &library));
	assert_true(keep(&deferred, 2, &other));
	assert_true(keep(&deferred, 3, &library));
	seen.deferred = &deferred;
	library.unwind.state = UNWIND_TABLE_LOADED;
	deferred_samples_run(&deferred, NOW, &sink);
	assert_int_equal(seen.count, 2);
	assert_int_equal(deferred.count, 3);

	seen = (struct seen){ 0 };
	other.unwind.state = UNWIND_TABLE_LOADED;
	deferred_samples_run(&deferred, NOW, &sink);

	assert_int_equal(seen.count, 3); /* and in their order */
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(seen.times[i], i + 1);
	tear_down(&deferred);
}

static void the_process_stays_as_it_was_at_the_tick(void **state)
{
	const struct process_image *then;
	struct deferred_samples deferred;

	(void)state;
	set_up(&deferred);
	then = process.image;
	assert_true(keep(&deferred, 1, &library));

	assert_ptr_not_equal(process_image_own(&process.image), then);
	deferred_samples_stop(&deferred, &sink);

	assert_int_equal(seen.count, 1);
	assert_ptr_equal(seen.images[0], then);
	assert_int_equal(deferred.ends[DEFERRED_STOPPED], 1);
	tear_down(&deferred);
}

static void samples_beyond_the_limit_are_rejected_and_counted(void **state)
{
	struct deferred_samples deferred;
	size_t kept = 0;

	(void)state;
	set_up(&deferred);
	while (keep(&deferred, 1, &library))
		kept++;

	assert_true(kept > 100 && kept * STACK < DEFERRED_BYTES_MAX);
	assert_int_equal(deferred.count, kept);
	assert_true(deferred.bytes <= DEFERRED_BYTES_MAX);
	assert_int_equal(deferred.rejected, 1);
	tear_down(&deferred); /* frees all: the sanitizer would detect a leak */
	assert_int_equal(deferred.bytes, 0);
}

static void an_owner_leaves_room_to_others(void **state)
{
	struct deferred_samples deferred;

	(void)state;
	set_up(&deferred);
	while (keep(&deferred, 1, &library)) {
	}
	assert_true(deferred.bytes <= DEFERRED_BYTES_MAX / 2);

	size_t of_greedy = deferred.bytes;

	process.owner.id = 10;
	while (keep(&deferred, 2, &library)) {
	}
	assert_true(deferred.bytes - of_greedy > DEFERRED_BYTES_MAX / 5);
	tear_down(&deferred);
}

RUN_TESTS(TEST(a_sample_waits_until_its_table_is_loaded),
	  TEST(a_table_that_cannot_be_built_ends_the_wait), TEST(no_wait_is_longer_than_the_limit),
	  TEST(a_sample_deferred_again_waits_for_the_next_table),
	  TEST(the_process_stays_as_it_was_at_the_tick),
	  TEST(samples_beyond_the_limit_are_rejected_and_counted),
	  TEST(an_owner_leaves_room_to_others))
