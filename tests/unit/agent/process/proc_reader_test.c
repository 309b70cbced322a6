// SPDX-License-Identifier: Apache-2.0
/* A FIFO without a writer stands for a file that hangs. */
#include "agent/process/proc_reader_internal.h"
#include "base/clock.h"
#include "support/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

static const struct share_owner user = { .id = 1, .class_of = OWNER_USER },
				other = { .id = 2, .class_of = OWNER_USER },
				root = { .id = 3, .class_of = OWNER_ROOT };

static struct proc_reader reader;
static char fifo[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(fifo, sizeof(fifo), "/tmp/proc_reader_test.%d", (int)getpid());
	return mkfifo(fifo, 0600);
}

static int tear_down(void **state)
{
	(void)state;
	proc_reader_done(&reader);
	return unlink(fifo);
}

/* What the thread that was left behind waits for. */
static void let_it_end(void)
{
	AUTO_FD writer = open(fifo, O_WRONLY | O_CLOEXEC);

	assert_true(writer >= 0);
}

static bool hangs(uint32_t pid, struct share_owner owner, uint64_t now_ms)
{
	str bytes;

	assert_true(proc_reader_may_read(&reader, pid, owner, now_ms));
	proc_reader_open(&reader, fifo, pid, owner);
	return !proc_reader_next(&reader, &bytes, now_ms);
}

/* When the thread has ended too, which takes a moment. */
static bool may_read_later(uint32_t pid, struct share_owner owner, uint64_t now_ms)
{
	for (int i = 0; i < 10000; i++) {
		if (proc_reader_may_read(&reader, pid, owner, now_ms))
			return true;
		clock_sleep_ms(1);
	}
	return false;
}

static void reads_a_file_from_its_begin_to_its_end(void **state)
{
	size_t total = 0;
	str bytes;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_true(proc_reader_may_read(&reader, 1, user, 0));
		proc_reader_open(&reader, "/proc/self/maps", 1, user);
		assert_true(proc_reader_next(&reader, &bytes, 0));
		assert_true(bytes.len > 0 && bytes.len <= PROC_READ_BYTES);
		while (bytes.len) {
			total += bytes.len;
			assert_true(proc_reader_next(&reader, &bytes, 0));
		}
	}
	assert_true(total > 0);
	assert_true(reader.cpu_ns > 0);
	proc_reader_open(&reader, "/proc/no/such/file", 1, user);
	assert_true(proc_reader_next(&reader, &bytes, 0));
	assert_int_equal(bytes.len, 0);
}

static void a_user_whose_process_hangs_is_not_read_for_some_time(void **state)
{
	(void)state;
	assert_true(hangs(10, user, 0));
	assert_int_equal(reader.hung[OWNER_USER], 1);
	assert_false(proc_reader_may_read(&reader, 10, user, PROC_HUNG_PAUSE_MS)); /* it hangs */
	assert_false(proc_reader_may_read(&reader, 11, user, PROC_HUNG_PAUSE_MS));
	assert_true(proc_reader_may_read(&reader, 12, other, 1));
	let_it_end();
	assert_true(may_read_later(10, user, PROC_HUNG_PAUSE_MS));
	assert_false(proc_reader_may_read(&reader, 11, user, PROC_HUNG_PAUSE_MS - 1));
}

/* A file that never ends: a piece every 50 ms. */
static void *write_slowly(void *self)
{
	static const char piece[PROC_READ_BYTES];
	AUTO_FD writer = open(fifo, O_WRONLY | O_CLOEXEC);

	(void)self;
	while (write(writer, piece, sizeof(piece)) > 0)
		clock_sleep_ms(50);
	return NULL;
}

static void a_file_that_comes_slowly_has_one_deadline(void **state)
{
	enum { PIECES_MAX = 2 * PROC_READ_MS / 50 };
	pthread_t writer;
	int pieces = 0;
	str bytes;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pthread_create(&writer, NULL, write_slowly, NULL), 0);
	assert_true(proc_reader_may_read(&reader, 10, user, 0));
	proc_reader_open(&reader, fifo, 10, user);
	while (pieces < PIECES_MAX && proc_reader_next(&reader, &bytes, 0))
		pieces++;

	assert_true(pieces < PIECES_MAX);
	assert_int_equal(reader.hung[OWNER_USER], 1);
	assert_false(proc_reader_may_read(&reader, 11, user, 1));
	assert_true(proc_reader_may_read(&reader, 12, other, 1));
	proc_reader_open(&reader, "/proc/self/maps", 12, other);
	assert_true(proc_reader_next(&reader, &bytes, 1));
	assert_true(bytes.len > 0);
	/* A thread that was left behind in the middle of a piece is freed after it. */
	assert_true(may_read_later(10, user, PROC_HUNG_PAUSE_MS));
	proc_reader_done(&reader); /* closes the file, so the writer ends */
	assert_int_equal(pthread_join(writer, NULL), 0);
}

static void other_processes_of_root_are_read(void **state)
{
	(void)state;
	assert_true(hangs(10, root, 0));
	assert_false(proc_reader_may_read(&reader, 10, root, 1));
	assert_true(proc_reader_may_read(&reader, 11, root, 1));
	let_it_end();
	assert_true(may_read_later(10, root, PROC_HUNG_PAUSE_MS));
}

static void no_more_than_the_limit_are_left_behind(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < PROC_HUNG_MAX; i++)
		assert_true(hangs(10 + i, root, 0));
	assert_int_equal(reader.hung[OWNER_ROOT], PROC_HUNG_MAX);
	assert_false(proc_reader_may_read(&reader, 99, other, 1));
	let_it_end();
	for (uint32_t i = 0; i < PROC_HUNG_MAX; i++)
		assert_true(may_read_later(10 + i, root, PROC_HUNG_PAUSE_MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_a_file_from_its_begin_to_its_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_user_whose_process_hangs_is_not_read_for_some_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_comes_slowly_has_one_deadline, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(other_processes_of_root_are_read, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(no_more_than_the_limit_are_left_behind, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
