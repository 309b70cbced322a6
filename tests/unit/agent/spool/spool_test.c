// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/spool_directory_internal.h"
#include "base/clock.h"
#include "support/scratch.h"
#include "support/test.h"
#include "wire/status.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct fixture {
	struct scratch scratch;
	struct spool_options options;
	struct spool spool;
	struct arena arena;
};

static void fixture_open(struct fixture *f, uint64_t max_bytes)
{
	struct err err;

	if (!f->options.node) {
		f->scratch = scratch_make();
		f->options = (struct spool_options){ .state_directory = f->scratch.path,
						     .node = "n",
						     .machine_id_path = "/nowhere" };
	}
	f->options.max_bytes = max_bytes;
	assert_true(spool_open(&f->spool, &f->options, &err));
}

static void fixture_close(struct fixture *f)
{
	spool_close(&f->spool);
	arena_free(&f->arena);
	scratch_remove(&f->scratch);
}

static void put(struct fixture *f, const char *value, uint64_t samples)
{
	struct err err = { 0 };

	assert_true(spool_put(&f->spool, str_from(value), str_from("status"), samples, &err));
}

/* The value of the next batch, or "" if there is no batch. */
static const char *next(struct fixture *f, uint64_t *ret_seq)
{
	struct spool_batch batch;

	if (!spool_next(&f->spool, &f->arena, &batch))
		return "";
	*ret_seq = batch.seq;
	return str_z(&f->arena, batch.value);
}

/* A path of the spool's only epoch. */
static const char *batch_path(struct fixture *f, uint64_t seq, const char *suffix)
{
	return str_z(&f->arena, str_format(&f->arena, "%s/spool/%020" PRIu64 "-%020" PRIu64 "%s",
					   f->scratch.path, f->spool.epoch, seq, suffix));
}

static void numbers_continue_after_a_restart_and_batches_come_in_order(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 1);
	put(&f, "two", 2);

	uint64_t epoch = f.spool.epoch;

	spool_close(&f.spool);
	fixture_open(&f, 1 << 20);
	put(&f, "three", 3);

	assert_true(f.spool.epoch == epoch && f.spool.last_seq == 3);
	assert_string_equal(next(&f, &seq), "one");
	assert_string_equal(next(&f, &seq), "two");
	assert_string_equal(next(&f, &seq), "three");
	assert_int_equal(seq, 3);
	assert_string_equal(next(&f, &seq), "");
	fixture_close(&f);
}

static void a_number_is_never_used_again_after_all_batches_have_left(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 1);
	next(&f, &seq);
	spool_delivered(&f.spool, f.spool.epoch, seq);
	assert_int_equal(spool_level_get(&f.spool).batches, 0);

	spool_close(&f.spool);
	fixture_open(&f, 1 << 20);
	assert_int_equal(f.spool.last_seq, 1);
	assert_true(str_eq(f.spool.last_status, STR("status")));
	put(&f, "two", 1);
	next(&f, &seq);
	assert_int_equal(seq, 2);
	fixture_close(&f);
}

static void the_oldest_number_is_the_lowest_that_has_not_left(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;

	(void)state;
	fixture_open(&f, 1 << 20);
	assert_int_equal(spool_oldest_seq(&f.spool), 1);
	put(&f, "one", 1);
	put(&f, "two", 1);
	put(&f, "three", 1);
	assert_int_equal(spool_oldest_seq(&f.spool), 1);

	/* Out of order, as one that fails and is sent again makes it. */
	next(&f, &seq);
	next(&f, &seq);
	spool_delivered(&f.spool, f.spool.epoch, 2);
	assert_int_equal(spool_oldest_seq(&f.spool), 1);
	spool_delivered(&f.spool, f.spool.epoch, 1);
	assert_int_equal(spool_oldest_seq(&f.spool), 3);
	assert_int_equal(spool_samples_get(&f.spool).sent, 2);
	assert_int_equal(spool_samples_get(&f.spool).held, 1);

	spool_close(&f.spool);
	fixture_open(&f, 1 << 20);
	assert_int_equal(spool_oldest_seq(&f.spool), 3);
	next(&f, &seq);
	spool_rejected(&f.spool, f.spool.epoch, 3);
	assert_int_equal(spool_oldest_seq(&f.spool), 3); /* it is not counted yet */
	put(&f, "four", 1);
	assert_int_equal(spool_oldest_seq(&f.spool), 4);
	fixture_close(&f);
}

static void a_batch_in_flight_is_sent_again_when_returned_and_after_a_crash(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 1);
	put(&f, "two", 1);
	next(&f, &seq);
	spool_returned(&f.spool, f.spool.epoch, 1);
	assert_string_equal(next(&f, &seq), "one");

	spool_close(&f.spool);
	fixture_open(&f, 1 << 20);
	assert_string_equal(next(&f, &seq), "one");
	fixture_close(&f);
}

static void a_full_spool_drops_the_oldest_batch_not_in_flight_and_counts_it(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;
	char large[1000];

	(void)state;
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	fixture_open(&f, 3500);
	put(&f, large, 10);
	put(&f, large, 20);
	put(&f, large, 30);
	next(&f, &seq); /* 1 is in flight */
	put(&f, large, 40);
	put(&f, large, 50);

	struct spool_lost lost = spool_lost_get(&f.spool);

	assert_int_equal(lost.batches[SPOOL_FULL], 2);
	assert_int_equal(lost.samples[SPOOL_FULL], 50);
	assert_true(spool_level_get(&f.spool).bytes <= 3500);
	spool_delivered(&f.spool, f.spool.epoch, 1);
	next(&f, &seq);
	assert_int_equal(seq, 4);

	spool_close(&f.spool);
	fixture_open(&f, 3500);
	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_FULL], 50);
	assert_int_equal(spool_level_get(&f.spool).batches, 2);
	fixture_close(&f);
}

static void at_most_half_of_the_spool_is_in_flight_so_that_new_batches_find_room(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;
	char large[1000];

	(void)state;
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	fixture_open(&f, 5000);
	for (uint64_t i = 1; i <= 4; i++)
		put(&f, large, i);
	next(&f, &seq);
	next(&f, &seq);
	assert_string_equal(next(&f, &seq), "");
	for (uint64_t i = 5; i <= 8; i++)
		put(&f, large, i);

	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_FULL], 3 + 4 + 5 + 6);
	spool_delivered(&f.spool, f.spool.epoch, 1);
	spool_delivered(&f.spool, f.spool.epoch, 2);
	next(&f, &seq);
	assert_int_equal(seq, 7);
	fixture_close(&f);
}

/* Killed after meta counts the drop and before the file is removed: it must not be sent, too. */
static void a_batch_counted_as_dropped_does_not_come_back_after_a_crash(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;
	char large[1000];

	(void)state;
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	fixture_open(&f, 2500);
	put(&f, large, 10);
	put(&f, large, 20);
	assert_int_equal(link(batch_path(&f, 1, ".batch"), batch_path(&f, 1, ".kept")), 0);
	put(&f, large, 30);
	assert_int_equal(rename(batch_path(&f, 1, ".kept"), batch_path(&f, 1, ".batch")), 0);

	spool_close(&f.spool);
	fixture_open(&f, 2500);
	next(&f, &seq);
	assert_int_equal(seq, 2);
	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_FULL], 10);
	fixture_close(&f);
}

static void corrupt(const char *path, off_t at)
{
	AUTO_FD fd = open(path, O_RDWR);
	char byte;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 1; /* never what it was */
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

static void a_corrupt_batch_is_set_aside_and_counted_and_the_next_one_is_sent(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;
	struct stat stat_bad;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 10);
	put(&f, "two", 20);
	put(&f, "three", 30);
	corrupt(batch_path(&f, 1, ".batch"), SPOOL_HEADER_SIZE + 2);
	assert_int_equal(truncate(batch_path(&f, 2, ".batch"), 70), 0);
	spool_close(&f.spool);

	fixture_open(&f, 1 << 20);
	assert_string_equal(next(&f, &seq), "three");
	put(&f, "four", 40);
	assert_int_equal(spool_lost_get(&f.spool).batches[SPOOL_CORRUPT], 2);
	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_CORRUPT], 30);
	assert_int_equal(stat(batch_path(&f, 1, ".bad"), &stat_bad), 0);
	fixture_close(&f);
}

/* A directory can be opened, but not read: EISDIR. */
static void make_unreadable(struct fixture *f, uint64_t seq)
{
	assert_int_equal(rename(batch_path(f, seq, ".batch"), batch_path(f, seq, ".readable")), 0);
	assert_int_equal(mkdir(batch_path(f, seq, ".batch"), 0700), 0);
}

static void make_readable(struct fixture *f, uint64_t seq)
{
	assert_int_equal(rmdir(batch_path(f, seq, ".batch")), 0);
	assert_int_equal(rename(batch_path(f, seq, ".readable"), batch_path(f, seq, ".batch")), 0);
}

/* As if the pauses after failed reads were over. */
static void pauses_end(struct fixture *f)
{
	f->spool.read_ns = 0;
	for (size_t i = 0; i < f->spool.entry_count; i++)
		f->spool.entries[i].retry_ns = 0;
}

static void a_batch_that_cannot_be_read_is_overtaken_and_sent_when_it_can_be_read(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 10);
	put(&f, "two", 20);
	make_unreadable(&f, 1);
	assert_string_equal(next(&f, &seq), "two");
	assert_int_equal(spool_level_get(&f.spool).unreadable, 1);

	make_readable(&f, 1);
	pauses_end(&f);
	assert_string_equal(next(&f, &seq), "one");
	assert_int_equal(spool_level_get(&f.spool).unreadable, 0);
	assert_int_equal(spool_lost_get(&f.spool).batches[SPOOL_CORRUPT], 0);
	fixture_close(&f);
}

static void the_publisher_sleeps_while_no_batch_can_be_read(void **state)
{
	enum { WAIT_MS = 50 };
	struct fixture f = { 0 };
	uint64_t seq = 0, began_ns = clock_monotonic_ns();

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 10);
	make_unreadable(&f, 1);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(next(&f, &seq), "");
		spool_wait(&f.spool, WAIT_MS);
	}
	assert_true(clock_monotonic_ns() - began_ns >= 3 * WAIT_MS * NS_PER_MS);
	fixture_close(&f);
}

static void a_batch_is_given_up_only_if_others_can_be_read(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;
	struct stat stat_bad;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 10);
	make_unreadable(&f, 1);
	for (size_t i = 0; i < 2 * SPOOL_READS_MAX; i++) {
		assert_string_equal(next(&f, &seq), "");
		pauses_end(&f);
	}
	put(&f, "two", 20);
	assert_int_equal(spool_lost_get(&f.spool).batches[SPOOL_CORRUPT], 0);

	assert_string_equal(next(&f, &seq), "two");
	pauses_end(&f);
	assert_string_equal(next(&f, &seq), "");
	put(&f, "three", 30);
	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_CORRUPT], 10);
	assert_int_equal(stat(batch_path(&f, 1, ".bad"), &stat_bad), 0);
	assert_int_equal(spool_level_get(&f.spool).unreadable, 0);
	assert_string_equal(next(&f, &seq), "three");
	fixture_close(&f);
}

static void a_rejected_batch_is_counted_once_and_not_sent_again(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 10);
	next(&f, &seq);
	spool_rejected(&f.spool, f.spool.epoch, 1);
	assert_string_equal(next(&f, &seq), "");
	put(&f, "two", 20);
	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_REFUSED], 10);
	spool_close(&f.spool);
	fixture_open(&f, 1 << 20);
	assert_string_equal(next(&f, &seq), "two");
	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_REFUSED], 10);
	fixture_close(&f);
}

static void a_batch_that_is_not_in_meta_yet_keeps_its_number(void **state)
{
	struct fixture f = { 0 };
	uint64_t seq = 0;
	const char *meta, *before;

	(void)state;
	fixture_open(&f, 1 << 20);
	meta = str_z(&f.arena, str_format(&f.arena, "%s/spool/meta", f.scratch.path));
	before = str_z(&f.arena, str_format(&f.arena, "%s/spool/before", f.scratch.path));
	put(&f, "one", 1);
	assert_int_equal(link(meta, before), 0);
	put(&f, "two", 1);
	assert_int_equal(rename(before, meta), 0);
	spool_close(&f.spool);

	fixture_open(&f, 1 << 20);
	assert_int_equal(f.spool.last_seq, 2);
	assert_string_equal(next(&f, &seq), "one");
	fixture_close(&f);
}

/* No file can be written any more, as on a full disk; or again. */
static void disk_fill(bool is_full)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = is_full ? 0 : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void waiting_batches_are_sent_though_the_disk_is_full_at_the_start(void **state)
{
	struct fixture f = { 0 };
	struct err err;
	uint64_t seq = 0;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 1);
	spool_close(&f.spool);
	disk_fill(true);

	bool opened = spool_open(&f.spool, &f.options, &err);

	disk_fill(false);
	assert_true(opened);
	assert_string_equal(next(&f, &seq), "one");
	put(&f, "two", 1);
	assert_string_equal(next(&f, &seq), "two");
	assert_int_equal(seq, 2);
	fixture_close(&f);
}

static void a_batch_that_meta_cannot_record_is_removed_and_its_number_reused(void **state)
{
	struct fixture f = { 0 };
	const char *meta, *before;
	struct err err;
	uint64_t seq = 0;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 1);
	meta = str_z(&f.arena, str_format(&f.arena, "%s/spool/meta", f.scratch.path));
	before = str_z(&f.arena, str_format(&f.arena, "%s/before", f.scratch.path));
	assert_int_equal(link(meta, before), 0);
	put(&f, "never sent", 1);
	assert_int_equal(rename(before, meta), 0);
	spool_close(&f.spool);
	disk_fill(true);

	bool opened = spool_open(&f.spool, &f.options, &err);

	disk_fill(false);
	assert_true(opened);
	put(&f, "two", 1);
	assert_string_equal(next(&f, &seq), "one");
	assert_string_equal(next(&f, &seq), "two");
	assert_int_equal(seq, 2);
	assert_string_equal(next(&f, &seq), "");
	fixture_close(&f);
}

static void a_lost_meta_begins_a_new_epoch_and_old_batches_keep_theirs(void **state)
{
	struct fixture f = { 0 };
	struct spool_batch batch;
	uint64_t epoch;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "one", 1);
	epoch = f.spool.epoch;
	corrupt(str_z(&f.arena, str_format(&f.arena, "%s/spool/meta", f.scratch.path)), 9);
	spool_close(&f.spool);

	fixture_open(&f, 1 << 20);
	assert_true(f.spool.epoch > epoch && f.spool.last_seq == 0);
	put(&f, "two", 1);
	assert_true(spool_next(&f.spool, &f.arena, &batch));
	assert_true(batch.epoch == epoch && batch.seq == 1);
	assert_true(spool_next(&f.spool, &f.arena, &batch));
	assert_true(batch.epoch == f.spool.epoch && batch.seq == 1);
	fixture_close(&f);
}

static void another_host_id_begins_a_new_epoch(void **state)
{
	struct fixture f = { 0 };
	uint64_t epoch;

	(void)state;
	fixture_open(&f, 1 << 20);
	epoch = f.spool.epoch;
	spool_close(&f.spool);
	f.options.node = "other";
	fixture_open(&f, 1 << 20);
	assert_true(f.spool.epoch > epoch);
	assert_true(str_starts_with(f.spool.host_id, STR("other/")));
	fixture_close(&f);
}

static void boot(struct fixture *f, const char *id)
{
	const char *path = str_z(&f->arena, str_format(&f->arena, "%s/boot", f->scratch.path));
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "%s\n", id);
	assert_int_equal(fclose(file), 0);
	f->options.boot_id_path = path;
}

static void after_a_boot_a_new_epoch_begins_and_old_batches_keep_theirs(void **state)
{
	struct fixture f = { 0 };
	struct spool_batch batch;
	uint64_t epoch;

	(void)state;
	fixture_open(&f, 1 << 20);
	spool_close(&f.spool);
	boot(&f, "first");
	fixture_open(&f, 1 << 20);
	put(&f, "before", 1);
	epoch = f.spool.epoch;
	spool_close(&f.spool);
	fixture_open(&f, 1 << 20);
	assert_int_equal(f.spool.epoch, epoch);
	assert_int_equal(f.spool.last_seq, 1);
	spool_close(&f.spool);

	boot(&f, "second");
	fixture_open(&f, 1 << 20);
	assert_true(f.spool.epoch > epoch);
	assert_int_equal(f.spool.last_status.len, 0);
	put(&f, "after", 1);
	assert_true(spool_next(&f.spool, &f.arena, &batch));
	assert_true(batch.epoch == epoch && batch.seq == 1);
	assert_true(spool_next(&f.spool, &f.arena, &batch));
	assert_true(batch.epoch == f.spool.epoch && batch.seq == 1);
	fixture_close(&f);
}

static void a_copy_of_the_spool_has_an_epoch_of_its_own(void **state)
{
	struct fixture f = { 0 };
	uint64_t epoch;

	(void)state;
	fixture_open(&f, 1 << 20);
	put(&f, "before", 1);
	epoch = f.spool.epoch;
	spool_close(&f.spool);

	const char *spool = str_z(&f.arena, str_format(&f.arena, "%s/spool", f.scratch.path));
	const char *kept = str_z(&f.arena, str_format(&f.arena, "%s/kept", f.scratch.path));
	const char *copy = str_z(&f.arena, str_format(&f.arena, "cp -a %s %s", kept, spool));

	assert_int_equal(rename(spool, kept), 0);
	assert_int_equal(system(copy), 0); // NOLINT(cert-env33-c)
	fixture_open(&f, 1 << 20);
	assert_true(f.spool.epoch > epoch);
	fixture_close(&f);
}

static void drops_that_were_not_reported_before_a_boot_are_reported_after_it(void **state)
{
	struct fixture f = { 0 };
	struct agent_status reported = { .lost_count = 1, .lost = { { STR("spool_full"), 10 } } };
	struct err err;

	(void)state;
	fixture_open(&f, 1 << 20);
	spool_close(&f.spool);
	boot(&f, "first");
	fixture_open(&f, 1 << 20);
	f.spool.lost.samples[SPOOL_FULL] = 30;
	assert_true(spool_put(&f.spool, STR("one"), status_write(&reported, &f.arena), 1, &err));
	spool_close(&f.spool);

	boot(&f, "second");
	fixture_open(&f, 1 << 20);
	assert_int_equal(spool_lost_get(&f.spool).samples[SPOOL_FULL], 20);
	fixture_close(&f);
}

static void a_second_agent_is_rejected_with_an_error(void **state)
{
	struct fixture f = { 0 };
	struct spool second;
	struct err err;

	(void)state;
	fixture_open(&f, 1 << 20);
	assert_false(spool_open(&second, &f.options, &err));
	assert_non_null(strstr(err.msg, "another agent uses the state directory"));
	fixture_close(&f);
}

static void a_batch_larger_than_the_spool_is_rejected(void **state)
{
	struct fixture f = { 0 };
	struct err err;

	(void)state;
	fixture_open(&f, 64);
	assert_false(spool_put(&f.spool, STR("one"), STR(""), 1, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_int_equal(f.spool.last_seq, 0);
	fixture_close(&f);
}

RUN_TESTS(TEST(numbers_continue_after_a_restart_and_batches_come_in_order),
	  TEST(a_number_is_never_used_again_after_all_batches_have_left),
	  TEST(the_oldest_number_is_the_lowest_that_has_not_left),
	  TEST(a_batch_in_flight_is_sent_again_when_returned_and_after_a_crash),
	  TEST(a_full_spool_drops_the_oldest_batch_not_in_flight_and_counts_it),
	  TEST(at_most_half_of_the_spool_is_in_flight_so_that_new_batches_find_room),
	  TEST(a_batch_counted_as_dropped_does_not_come_back_after_a_crash),
	  TEST(a_corrupt_batch_is_set_aside_and_counted_and_the_next_one_is_sent),
	  TEST(a_batch_that_cannot_be_read_is_overtaken_and_sent_when_it_can_be_read),
	  TEST(the_publisher_sleeps_while_no_batch_can_be_read),
	  TEST(a_batch_is_given_up_only_if_others_can_be_read),
	  TEST(a_rejected_batch_is_counted_once_and_not_sent_again),
	  TEST(a_batch_that_is_not_in_meta_yet_keeps_its_number),
	  TEST(waiting_batches_are_sent_though_the_disk_is_full_at_the_start),
	  TEST(a_batch_that_meta_cannot_record_is_removed_and_its_number_reused),
	  TEST(a_lost_meta_begins_a_new_epoch_and_old_batches_keep_theirs),
	  TEST(another_host_id_begins_a_new_epoch),
	  TEST(after_a_boot_a_new_epoch_begins_and_old_batches_keep_theirs),
	  TEST(a_copy_of_the_spool_has_an_epoch_of_its_own),
	  TEST(drops_that_were_not_reported_before_a_boot_are_reported_after_it),
	  TEST(a_second_agent_is_rejected_with_an_error),
	  TEST(a_batch_larger_than_the_spool_is_rejected))
