// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/batch.h"
#include "profile/profile_type.h"
#include "support/scratch.h"
#include "support/test.h"

enum { ROOM = 1 << 20 };

struct fixture {
	struct scratch scratch;
	struct spool spool;
	struct counts counts; /* nothing is pinned */
	struct batch_writer writer;
	struct arena arena;
	struct sample_set set;
	struct profiler_counts profiled;
	struct agent_status status; /* of the batch that was put last */
	size_t batches;
};

static void agent_begin(struct fixture *f, uint64_t max_bytes)
{
	struct spool_options options = { .state_directory = f->scratch.path,
					 .node = "n",
					 .machine_id_path = "/nowhere",
					 .max_bytes = max_bytes };
	struct err err;

	assert_true(spool_open(&f->spool, &options, &err));
	batch_writer_init(&f->writer, &f->spool,
			  &(struct batch_options){ .node = "n", .hz = 19, .counts = &f->counts });
}

static void agent_end(struct fixture *f)
{
	batch_writer_done(&f->writer);
	spool_close(&f->spool);
}

static void set_up(struct fixture *f, uint64_t max_bytes)
{
	*f = (struct fixture){ .scratch = scratch_make() };
	agent_begin(f, max_bytes);
}

static void tear_down(struct fixture *f)
{
	agent_end(f);
	arena_free(&f->arena);
	scratch_remove(&f->scratch);
}

/* Write an interval with `samples` samples; the status of its last batch is in f->status. */
static void interval(struct fixture *f, size_t samples)
{
	struct spool_batch batch;
	struct err err;

	sample_set_init(&f->set, &f->arena);
	for (size_t i = 0; i < samples; i++)
		sample_set_add(
			&f->set,
			(struct sample){ .series = sample_set_series(&f->set, STR(PROFILE_TYPE_CPU),
								     (struct labels){ 0 }, 1000),
					 .stack = sample_set_stack(&f->set, NULL, 0),
					 .labels = sample_set_labels(&f->set, (struct labels){ 0 }),
					 .value = 1000,
					 .time_ms = 1000000 });
	batch_write(&f->writer, &f->set, &f->profiled);
	for (f->batches = 0; spool_next(&f->spool, &f->arena, &batch); f->batches++) {
		assert_true(status_read(batch.status, &f->status, &f->arena, &err));
		spool_delivered(&f->spool, batch.epoch, batch.seq);
	}
}

static uint64_t lost(const struct fixture *f, const char *reason)
{
	for (size_t i = 0; i < f->status.lost_count; i++)
		if (str_eq(f->status.lost[i].reason, str_from(reason)))
			return f->status.lost[i].samples;
	fail_msg("no reason %s", reason);
	return 0;
}

static void an_interval_without_samples_and_losses_is_no_batch(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, ROOM);

	interval(&f, 0);

	assert_int_equal(f.batches, 0);
	tear_down(&f);
}

static void losses_are_reported_though_there_are_no_samples(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, ROOM);
	f.profiled.loss_counters.lost[LOSS_RING_FULL] = 5;

	interval(&f, 0);
	assert_int_equal(f.batches, 1);
	assert_int_equal(f.status.batch_samples, 0);
	assert_int_equal(f.status.sampled, 5);
	assert_int_equal(lost(&f, "ring_full"), 5);

	interval(&f, 0);
	assert_int_equal(f.batches, 0);
	tear_down(&f);
}

static void reports_the_oldest_number_that_the_spool_still_has(void **state)
{
	struct fixture f;
	struct err err;

	(void)state;
	set_up(&f, ROOM);
	interval(&f, 3);
	assert_int_equal(f.status.spool_oldest, 1); /* its own */
	interval(&f, 3);
	assert_int_equal(f.status.spool_oldest, 2); /* likewise: Kafka has the first */

	assert_true(spool_put(&f.spool, STR("waits"), STR(""), 1, &err));
	batch_write(&f.writer, &f.set, &f.profiled);
	interval(&f, 3);
	assert_int_equal(f.status.spool_oldest, 3);
	tear_down(&f);
}

static void reports_what_was_spooled_and_what_kafka_acknowledged(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, ROOM);
	f.profiled.loss_counters.lost[LOSS_RING_FULL] = 5;
	interval(&f, 3);
	assert_true(f.status.spooled == 3 && f.status.sent == 0);
	interval(&f, 4);
	assert_true(f.status.spooled == 7 && f.status.sent == 3);
	assert_int_equal(f.status.sampled, 12);

	/* A new process: the second batch was acknowledged after the last status. */
	agent_end(&f);
	agent_begin(&f, ROOM);
	f.profiled.loss_counters.lost[LOSS_RING_FULL] = 0;
	interval(&f, 1);
	assert_true(f.status.spooled == 8 && f.status.sent == 7);
	tear_down(&f);
}

static void what_predecessors_did_not_report_is_counted_once(void **state)
{
	struct loss_counters unreported = { .sampled = 10, .lost = { [LOSS_RING_FULL] = 3 } };
	struct fixture f;

	(void)state;
	set_up(&f, ROOM);
	interval(&f, 2);
	agent_end(&f);

	agent_begin(&f, ROOM);
	batch_writer_add_unreported(&f.writer, &unreported);
	interval(&f, 0);
	assert_int_equal(f.batches, 1);
	assert_int_equal(f.status.sampled, 12);
	assert_int_equal(lost(&f, "ring_full"), 3);
	assert_int_equal(lost(&f, "agent_killed"), 7);

	interval(&f, 4);
	assert_int_equal(f.status.sampled, 16);
	agent_end(&f);

	agent_begin(&f, ROOM);
	f.profiled.loss_counters.lost[LOSS_RING_FULL] = 1;
	interval(&f, 1);
	assert_int_equal(f.status.sampled, 18);
	assert_int_equal(lost(&f, "ring_full"), 4);
	assert_int_equal(lost(&f, "agent_killed"), 7);
	tear_down(&f);
}

static void samples_lost_in_a_failed_put_are_reported_in_the_next_batch(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, 1);
	interval(&f, 6);
	assert_int_equal(f.batches, 0);
	assert_int_equal(f.writer.lost, 6);

	f.spool.max_bytes = ROOM;
	interval(&f, 0);

	assert_int_equal(f.batches, 1);
	assert_int_equal(f.status.sampled, 6);
	assert_int_equal(lost(&f, "spool_write"), 6);
	tear_down(&f);
}

static void returns_what_the_last_batch_reported(void **state)
{
	struct loss_counters reported;
	struct fixture f;

	(void)state;
	set_up(&f, ROOM);
	f.profiled.loss_counters.lost[LOSS_TIMELINE_FULL] = 2;
	interval(&f, 3);
	agent_end(&f);

	agent_begin(&f, ROOM);

	assert_true(batch_writer_reported(&f.writer, &reported));
	assert_int_equal(reported.sampled, 5);
	assert_int_equal(reported.lost[LOSS_TIMELINE_FULL], 2);
	assert_int_equal(reported.lost[LOSS_RING_FULL], 0);
	tear_down(&f);
}

static void an_unreadable_last_status_reports_nothing(void **state)
{
	struct loss_counters reported = { .sampled = 7 };
	struct fixture f;
	struct err err;

	(void)state;
	set_up(&f, ROOM);
	assert_true(spool_put(&f.spool, STR("value"), STR("\x0a\x7f no status"), 1, &err));
	agent_end(&f);

	agent_begin(&f, ROOM);

	assert_false(batch_writer_reported(&f.writer, &reported));
	assert_int_equal(reported.sampled, 7); /* unchanged */
	tear_down(&f);
}

static void a_truncated_stack_is_reported_by_the_name_of_its_end(void **state)
{
	char name[64];

	(void)state;
	for (uint32_t end = USER_END_TOO_DEEP; end < USER_END_COUNT; end++) {
		snprintf(name, sizeof(name), "user_%s", user_end_names[end]);
		assert_string_equal(
			profiler_truncation_names[TRUNCATED_USER + end - USER_END_TOO_DEEP], name);
	}
}

RUN_TESTS(TEST(an_interval_without_samples_and_losses_is_no_batch),
	  TEST(losses_are_reported_though_there_are_no_samples),
	  TEST(reports_the_oldest_number_that_the_spool_still_has),
	  TEST(reports_what_was_spooled_and_what_kafka_acknowledged),
	  TEST(what_predecessors_did_not_report_is_counted_once),
	  TEST(samples_lost_in_a_failed_put_are_reported_in_the_next_batch),
	  TEST(returns_what_the_last_batch_reported),
	  TEST(an_unreadable_last_status_reports_nothing),
	  TEST(a_truncated_stack_is_reported_by_the_name_of_its_end))
