// SPDX-License-Identifier: Apache-2.0
/*
 * Each test has a store in a directory of its own. Two `struct files` over one directory act like
 * two processes: their locks exclude each other in the same way.
 */
#include "base/buf.h"
#include "debuginfo/file_write.h"
#include "debuginfo/files_sweep.h"
#include "support/scratch.h"
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct scratch scratch;
static struct files files, others;
static struct file_key key;

static struct file_key key_of(const char *id)
{
	struct build_id parsed;
	struct err err;

	assert_true(build_id_parse(str_from(id), &parsed, &err));
	return file_key_debuginfo(&parsed);
}

static void open_store(struct files *store, uint64_t max_bytes)
{
	struct err err = { 0 };

	if (!files_open(store, scratch.path, max_bytes, &err))
		fail_msg("%s", err.msg);
}

static int set_up(void **state)
{
	(void)state;
	scratch = scratch_make();
	open_store(&files, 1000);
	open_store(&others, 1000);
	key = key_of("0123456789abcdef");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	files_close(&files);
	files_close(&others);
	files_close(&others);
	scratch_remove(&scratch);
	return 0;
}

static struct file_write begin(struct files *store, const struct file_key *of)
{
	struct file_write write = { 0 };
	struct err err = { 0 };

	if (!file_write_begin(&write, store, of, &err))
		fail_msg("%s", err.msg);
	return write;
}

static uint64_t put(struct files *store, const struct file_key *of, str bytes)
{
	struct file_write write = begin(store, of);
	uint64_t generation = 0;
	struct err err = { 0 };

	assert_true(file_write_add(&write, bytes, &err));
	assert_true(file_write_commit(&write, &generation, &err));
	assert_null(write.files);
	return generation;
}

static str get(const struct files *store, const struct file_key *of, char *text, size_t cap)
{
	struct stored_file stored;

	if (!files_find(store, of, &stored))
		return (str){ 0 };

	AUTO_FD fd = stored.fd;
	ssize_t n = read(fd, text, cap);

	assert_int_equal(n, (ssize_t)stored.size);
	assert_int_equal(stored.generation, files_generation(store, of));
	return (str){ text, (size_t)n };
}

/* The number of entries in a directory of the store; -1 if there is no such directory. */
static int entries(const char *below)
{
	AUTO_ARENA arena = { 0 };
	DIR *stream = opendir(str_z(&arena, str_format(&arena, "%s/%s", scratch.path, below)));
	int count = -2; /* . and .. */

	if (!stream)
		return -1;
	while (readdir(stream))
		count++;
	closedir(stream);
	return count;
}

static void a_file_appears_when_it_is_complete(void **state)
{
	struct file_write write = begin(&files, &key);
	uint64_t generation;
	char text[64];
	struct err err;

	(void)state;
	assert_true(file_write_add(&write, STR("he"), &err));
	assert_true(file_write_add(&write, STR("llo"), &err));
	assert_int_equal(get(&files, &key, text, sizeof(text)).len, 0);
	assert_int_equal(files_generation(&files, &key), 0);
	assert_true(file_write_commit(&write, &generation, &err));
	assert_true(str_eq(get(&others, &key, text, sizeof(text)), STR("hello")));
	assert_true(generation > UINT64_C(1700000000000));
	assert_int_equal(files.bytes, 5);
	assert_int_equal(entries("temp"), 0);
}

static void names_follow_the_build_id(void **state)
{
	struct file_key hash = key_of("htlhash:0123456789abcdef0123456789abcdef");
	struct file_key source = file_key_source(&key.id, STR("/etc/../passwd"));

	(void)state;
	put(&files, &key, STR("x"));
	put(&files, &hash, STR("x"));
	put(&files, &source, STR("x"));
	assert_int_equal(entries("files"), 1);
	assert_int_equal(entries("files/01"), 2);
	assert_int_equal(entries("files/01/23456789abcdef"), 2);
	assert_int_equal(entries("files/01/htlhash-23456789abcdef0123456789abcdef"), 1);
}

static void a_newer_file_replaces_the_older_one(void **state)
{
	char text[64];
	uint64_t first = put(&files, &key, STR("first"));
	uint64_t second = put(&files, &key, STR("second"));
	uint64_t third = put(&others, &key, STR("third"));

	(void)state;
	assert_true(first < second && second < third);
	assert_true(str_eq(get(&files, &key, text, sizeof(text)), STR("third")));
	assert_int_equal(entries("files/01/23456789abcdef"), 1);
}

/* A writer that is killed between the rename and the removal leaves both files. */
static void the_newer_of_two_files_counts(void **state)
{
	AUTO_ARENA arena = { 0 };
	char text[64];
	uint64_t generation = put(&files, &key, STR("newer"));
	const char *older =
		str_z(&arena, str_format(&arena, "%s/files/01/23456789abcdef/debuginfo-%ju",
					 scratch.path, (uintmax_t)generation - 1));

	(void)state;
	close(open(older, O_CREAT | O_WRONLY, 0600));
	assert_true(str_eq(get(&files, &key, text, sizeof(text)), STR("newer")));
	put(&files, &key, STR("newest"));
	assert_int_equal(entries("files/01/23456789abcdef"), 1);
}

static void a_file_has_one_writer_at_a_time(void **state)
{
	struct file_write first = begin(&files, &key), second = { 0 };
	struct file_key other = key_of("1111111111111111");
	uint64_t generation;
	struct err err = { 0 };

	(void)state;
	assert_false(file_write_begin(&second, &files, &key, &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_false(file_write_begin(&second, &others, &key, &err));
	assert_int_equal(err.code, ERR_BUSY);
	second = begin(&others, &other);
	file_write_abandon(&second);
	assert_true(file_write_commit(&first, &generation, &err));
	second = begin(&others, &key);
	file_write_abandon(&second);
	file_write_abandon(&second);
	assert_int_equal(entries("temp"), 0);
	assert_int_equal(files_generation(&files, &key), generation);
}

static void a_write_can_be_restarted(void **state)
{
	struct file_write write = begin(&files, &key);
	uint64_t generation;
	char text[64];
	struct err err;

	(void)state;
	assert_true(file_write_add(&write, STR("something long"), &err));
	assert_true(file_write_restart(&write, &err));
	assert_true(file_write_add(&write, STR("short"), &err));
	assert_true(file_write_commit(&write, &generation, &err));
	assert_true(str_eq(get(&files, &key, text, sizeof(text)), STR("short")));
}

static bool fails_to_sync_directories;

/* Replaces that of libc in this program. */
int fsync(int fd)
{
	struct stat stat;

	if (fails_to_sync_directories && fstat(fd, &stat) == 0 && S_ISDIR(stat.st_mode)) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

static void a_file_is_stored_although_its_directory_was_not_synced(void **state)
{
	uint64_t first, second, first_bytes;
	char text[16];

	(void)state;
	first = put(&files, &key, STR("old"));
	first_bytes = files.bytes;
	fails_to_sync_directories = true;
	second = put(&files, &key, STR("newer"));
	fails_to_sync_directories = false;
	assert_true(second > first);
	assert_int_equal(files_generation(&files, &key), second);
	assert_true(str_eq(get(&files, &key, text, sizeof(text)), STR("newer")));
	/* A power failure may lose the new file: the old one was kept, and both are counted. */
	assert_int_equal(files.count, 2);
	assert_int_equal(files.bytes, first_bytes + 5);
	put(&files, &key, STR("newest"));
	assert_int_equal(files.count, 1);
}

static void closing_a_zeroed_store_closes_nothing(void **state)
{
	struct files none = { 0 };

	(void)state;
	assert_true(fcntl(0, F_GETFD) >= 0);
	files_close(&none);
	assert_true(fcntl(0, F_GETFD) >= 0);
}

static void leftovers_are_removed_but_a_running_write_stays(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct file_write alive = begin(&files, &key);
	struct files third = { 0 };
	const char *dead =
		str_z(&arena, str_format(&arena, "%s/temp/1111.debuginfo", scratch.path));
	uint64_t generation;
	struct err err;

	(void)state;
	close(open(dead, O_CREAT | O_WRONLY, 0600));
	open_store(&third, 1000);
	assert_int_equal(entries("temp"), 1);
	assert_true(file_write_add(&alive, STR("x"), &err));
	assert_true(file_write_commit(&alive, &generation, &err));
	assert_int_equal(files_generation(&third, &key), generation);
	assert_string_equal(third.name, files.name);
	files_close(&third);
}

/* Set the time of the last request. */
static void asked_at(const struct file_key *of, time_t second)
{
	struct timespec times[2] = { { .tv_sec = second }, { .tv_nsec = UTIME_OMIT } };
	struct stored_file stored;

	assert_true(files_find(&files, of, &stored));
	assert_int_equal(futimens(stored.fd, times), 0);
	close(stored.fd);
}

static void evicts_the_least_recently_asked_files_when_full(void **state)
{
	static const char bytes[300];
	struct file_key keys[] = { key_of("aa11111111111111"), key_of("bb11111111111111"),
				   key_of("cc11111111111111"), key_of("dd11111111111111") };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		put(&files, &keys[i], (str){ bytes, sizeof(bytes) });
	asked_at(&keys[0], 3000);
	asked_at(&keys[1], 1000);
	asked_at(&keys[2], 2000);
	put(&files, &keys[3], (str){ bytes, sizeof(bytes) });
	assert_true(files_generation(&files, &keys[0]) > 0);
	assert_int_equal(files_generation(&files, &keys[1]), 0);
	assert_true(files_generation(&files, &keys[2]) > 0);
	assert_true(files_generation(&files, &keys[3]) > 0);
	assert_int_equal(files.bytes, 900);
	assert_int_equal(files.count, 3);
	assert_int_equal(entries("files/bb"), 0); /* its directory is removed, too */
	put(&files, &keys[1], STR("again"));
	assert_true(files_generation(&files, &keys[1]) > 0);
}

static const char third_of_store[300];

/* Whether a file of a third of the store can be stored. */
static bool store_third(struct files *store, const char *id, bool is_asked_for)
{
	struct file_key own = key_of(id);
	struct file_write write = begin(store, &own);
	uint64_t generation;
	struct err err = { 0 };
	bool is_stored;

	assert_true(file_write_add(&write, (str){ third_of_store, sizeof(third_of_store) }, &err));
	write.is_asked_for = is_asked_for;
	is_stored = file_write_commit(&write, &generation, &err);
	assert_null(write.files);
	assert_true(is_stored || err.code == ERR_LIMIT);
	assert_int_equal(entries("temp"), 0);
	return is_stored;
}

static bool is_stored(const char *id)
{
	struct file_key own = key_of(id);

	return files_generation(&files, &own) > 0;
}

static void ask(const char *id)
{
	struct file_key own = key_of(id);
	struct stored_file stored;

	assert_true(files_find(&files, &own, &stored));
	files_mark_asked(stored.fd, NULL);
	close(stored.fd);
}

/* The uploader asks for its file itself. */
static void ask_as_uploader(const char *id)
{
	static const unsigned char client[FILES_CLIENT_LEN] = "an address";
	struct file_key own = key_of(id);
	struct stored_file stored;

	assert_true(files_find(&files, &own, &stored));
	files_mark_uploader(stored.fd, client);
	files_mark_asked(stored.fd, client);
	close(stored.fd);
}

static void the_requests_of_the_uploader_do_not_protect_its_file(void **state)
{
	(void)state;
	assert_true(store_third(&files, "aa11111111111111", false));
	assert_true(store_third(&files, "bb11111111111111", false));
	assert_true(store_third(&files, "cc11111111111111", false));
	ask("aa11111111111111");
	ask_as_uploader("aa11111111111111"); /* another client's request is not undone */
	ask("bb11111111111111");
	ask_as_uploader("cc11111111111111");
	files_sweep(&files);
	assert_int_equal(files.asked_bytes, 600);
	assert_true(store_third(&files, "dd11111111111111", false));
	assert_true(is_stored("aa11111111111111") && is_stored("bb11111111111111"));
	assert_false(is_stored("cc11111111111111"));
}

static void room_is_reserved_until_a_file_is_stored(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_true(files_make_room(&files, 600, false, &err));
	assert_false(files_make_room(&files, 600, false, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_true(files_make_room(&files, 400, false, &err));
	assert_false(store_third(&files, "aa11111111111111", false));
	files_release_room(&files, 400, 0, 0);
	assert_true(store_third(&files, "aa11111111111111", false));
	files_release_room(&files, 600, 0, 0);
}

static void files_that_no_client_asked_for_are_evicted_first(void **state)
{
	struct file_key looked_at = key_of("bb11111111111111");
	char text[300];

	(void)state;
	assert_true(store_third(&files, "aa11111111111111", false));
	ask("aa11111111111111");
	assert_true(store_third(&files, "bb11111111111111", false));
	assert_true(store_third(&files, "cc11111111111111", false));
	/* To look into a file, as an offer of a better one does, is not to ask for it. */
	assert_int_equal(get(&files, &looked_at, text, sizeof(text)).len, 300);
	for (int i = 0; i < 10; i++) {
		const char garbage[] = { 'd', (char)('0' + i), '1', '1', '1', '1', '1', '1', 0 };

		assert_true(store_third(&files, garbage, false));
		assert_true(is_stored(garbage));
		assert_true(is_stored("aa11111111111111"));
	}
	assert_false(is_stored("bb11111111111111"));
	assert_true(files.bytes <= 1000);
	assert_int_equal(files.asked_bytes, 300);
}

static void what_was_asked_for_lately_is_not_evicted_for_an_upload(void **state)
{
	static const char *const ids[] = { "aa11111111111111", "bb11111111111111",
					   "cc11111111111111" };
	struct file_key oldest = key_of(ids[1]), older = key_of(ids[2]);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		assert_true(store_third(&files, ids[i], false));
		ask(ids[i]);
	}
	assert_true(files_may_have_room(&files, 300)); /* not scanned since */
	assert_false(store_third(&files, "dd11111111111111", false));
	assert_false(files_may_have_room(&files, 300));
	assert_true(files_may_have_room(&files, 100));
	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		assert_true(is_stored(ids[i]));

	asked_at(&oldest, 3000); /* long ago */
	assert_true(store_third(&files, "dd11111111111111", false));
	assert_false(is_stored(ids[1]));

	ask("dd11111111111111");
	asked_at(&older, time(NULL) - 60);
	assert_true(store_third(&files, "ee11111111111111", true)); /* for a client that waits */
	assert_true(is_stored(ids[0]) && !is_stored(ids[2]));
	assert_int_equal(files.count, 3);
}

static void a_replacement_was_asked_for_when_its_predecessor_was(void **state)
{
	(void)state;
	assert_true(store_third(&files, "aa11111111111111", false));
	ask("aa11111111111111");
	assert_true(store_third(&files, "bb11111111111111", false));
	assert_true(store_third(&files, "aa11111111111111", false));
	files_sweep(&files);
	assert_int_equal(files.count, 2);
	assert_int_equal(files.asked_bytes, 300);
	/* Its predecessor's bytes are room for it. */
	ask("bb11111111111111");
	assert_true(store_third(&files, "cc11111111111111", false));
	ask("cc11111111111111");
	assert_true(store_third(&files, "aa11111111111111", false));
}

static void a_sweep_of_a_smaller_store_evicts_what_was_asked_for(void **state)
{
	struct files smaller = { 0 };

	(void)state;
	assert_true(store_third(&files, "aa11111111111111", false));
	assert_true(store_third(&files, "bb11111111111111", false));
	ask("aa11111111111111");
	ask("bb11111111111111");
	open_store(&smaller, 500);
	assert_int_equal(smaller.count, 1);
	assert_int_equal(smaller.asked_bytes, 300);
	assert_false(is_stored("aa11111111111111"));
	files_close(&smaller);
}

static void a_sweep_counts_files_of_other_processes(void **state)
{
	(void)state;
	put(&others, &key, STR("12345"));
	assert_int_equal(files.bytes, 0);
	files_sweep(&files);
	assert_int_equal(files.bytes, 5);
	assert_int_equal(files.count, 1);
}

static void does_not_follow_a_link_out_of_the_store(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct stored_file stored;
	const char *link = str_z(&arena, str_format(&arena,
						    "%s/files/01/23456789abcdef/debuginfo-"
						    "9999999999999",
						    scratch.path));

	(void)state;
	put(&files, &key, STR("x"));
	assert_int_equal(symlink("/etc/passwd", link), 0);
	assert_false(files_find(&files, &key, &stored));
}

static void reports_a_store_that_cannot_be_written_to(void **state)
{
	AUTO_ARENA arena = { 0 };
	const char *temp = str_z(&arena, str_format(&arena, "%s/temp", scratch.path));
	struct files none = { 0 };
	struct file_write write = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_true(files_is_writable(&files, &err));
	assert_int_equal(rmdir(temp), 0);
	assert_false(files_is_writable(&files, &err));
	assert_false(file_write_begin(&write, &files, &key, &err));
	assert_int_not_equal(err.code, ERR_BUSY);
	assert_false(files_open(&none, "", 1000, &err));
	assert_false(files_open(&none, "/proc/nowhere", 1000, &err));
	files_close(&none);
}

#define STORE_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_file_appears_when_it_is_complete),
		STORE_TEST(names_follow_the_build_id),
		STORE_TEST(a_newer_file_replaces_the_older_one),
		STORE_TEST(the_newer_of_two_files_counts),
		STORE_TEST(a_file_has_one_writer_at_a_time),
		STORE_TEST(a_write_can_be_restarted),
		STORE_TEST(a_file_is_stored_although_its_directory_was_not_synced),
		STORE_TEST(closing_a_zeroed_store_closes_nothing),
		STORE_TEST(leftovers_are_removed_but_a_running_write_stays),
		STORE_TEST(evicts_the_least_recently_asked_files_when_full),
		STORE_TEST(files_that_no_client_asked_for_are_evicted_first),
		STORE_TEST(what_was_asked_for_lately_is_not_evicted_for_an_upload),
		STORE_TEST(the_requests_of_the_uploader_do_not_protect_its_file),
		STORE_TEST(room_is_reserved_until_a_file_is_stored),
		STORE_TEST(a_replacement_was_asked_for_when_its_predecessor_was),
		STORE_TEST(a_sweep_of_a_smaller_store_evicts_what_was_asked_for),
		STORE_TEST(a_sweep_counts_files_of_other_processes),
		STORE_TEST(does_not_follow_a_link_out_of_the_store),
		STORE_TEST(reports_a_store_that_cannot_be_written_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
