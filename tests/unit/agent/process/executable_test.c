// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/executable.h"
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static char self_path[4096];

/* This program, as in /proc/PID/maps: without a build id. */
static struct executable_claim claim_of_self(void)
{
	ssize_t len = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);
	struct stat stat_of;

	assert_true(len > 0);
	assert_int_equal(stat(self_path, &stat_of), 0);
	return (struct executable_claim){ .pid = (uint32_t)getpid(),
					  .path = { self_path, (size_t)len },
					  .inode = stat_of.st_ino,
					  .device_major = major(stat_of.st_dev),
					  .device_minor = minor(stat_of.st_dev) };
}

static str build_id_of_self(void)
{
	static struct elf_file elf;
	struct err err;
	AUTO_FD fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(elf_file_read(&elf, fd, &err));
	return (str){ (const char *)elf.build_id, elf.build_id_len };
}

static void reads_a_file_once_with_or_without_a_build_id(void **state)
{
	struct executable_cache *cache = calloc(1, sizeof(*cache));
	struct executable_claim claim = claim_of_self();

	(void)state;
	executable_cache_init(cache);

	struct executable *by_file = executable_acquire(cache, &claim);

	assert_non_null(by_file);
	assert_true(by_file->segment_count > 0);
	assert_int_equal(strlen(by_file->build_id), build_id_of_self().len * 2);
	assert_ptr_equal(executable_acquire(cache, &claim), by_file);
	claim.build_id = build_id_of_self();
	assert_ptr_equal(executable_acquire(cache, &claim), by_file);
	claim.pid = UINT32_MAX; /* it is gone, but a cached file needs no open */
	assert_ptr_equal(executable_acquire(cache, &claim), by_file);
	assert_int_equal(cache->opened, 1);
	assert_int_equal(cache->by_id.len, 1);
	executable_cache_done(cache);
	free(cache);
}

static void finds_the_file_of_an_exited_process_if_its_identity_is_certain(void **state)
{
	struct executable_cache *cache = calloc(1, sizeof(*cache));
	struct executable_claim claim = claim_of_self();

	(void)state;
	executable_cache_init(cache);
	claim.pid = UINT32_MAX;
	claim.inode++; /* another file is at the path */
	assert_int_equal(executable_acquire(cache, &claim)->segment_count, 0);
	claim.inode--;
	assert_true(executable_acquire(cache, &claim)->segment_count > 0);
	claim.build_id = STR("not this file's id");
	assert_int_equal(executable_acquire(cache, &claim)->segment_count, 0);
	assert_int_equal(cache->unreadable, 2);
	executable_cache_done(cache);
	free(cache);
}

static void anonymous_memory_has_no_executable(void **state)
{
	struct executable_cache *cache = calloc(1, sizeof(*cache));

	(void)state;
	executable_cache_init(cache);
	assert_null(executable_acquire(cache, &(struct executable_claim){ .path = STR("//anon") }));
	assert_null(executable_acquire(cache, &(struct executable_claim){ .path = STR("") }));
	assert_null(executable_acquire(cache, &(struct executable_claim){ .path = STR("[heap]") }));

	struct executable *vdso =
		executable_acquire(cache, &(struct executable_claim){ .path = STR("[vdso]") });

	assert_string_equal(vdso->path, "[vdso]");
	assert_true(vdso->build_id[0] && vdso->segment_count > 0);
	executable_cache_done(cache);
	free(cache);
}

/* The files that a sink was offered, and whether it accepts them. */
struct taker {
	bool is_full;
	size_t count;
	char last[BUILD_ID_TEXT_MAX];
};

static bool taker_has_room(void *self)
{
	return !((struct taker *)self)->is_full;
}

static bool taker_offer(void *self, struct executable *executable,
			const struct executable_claim *claim, int fd)
{
	struct taker *taker = self;
	char magic[4];

	assert_true(claim->path.len > 0);
	assert_int_equal(pread(fd, magic, sizeof(magic), 0), sizeof(magic));
	assert_memory_equal(magic, "\177ELF", sizeof(magic));
	snprintf(taker->last, sizeof(taker->last), "%s", executable->build_id);
	taker->count++;
	return true;
}

static void offers_each_file_once_and_when_there_is_room(void **state)
{
	struct executable_cache *cache = calloc(1, sizeof(*cache));
	struct executable_claim claim = claim_of_self();
	struct taker taker = { 0 };
	struct executable_sink sink = { .has_room = taker_has_room,
					.has_plenty = taker_has_room,
					.offer = taker_offer,
					.self = &taker };

	(void)state;
	executable_cache_init(cache);
	executable_cache_set_sink(cache, EXECUTABLE_SINK_UPLOAD, &sink);
	assert_int_equal(taker.count, 1); /* the vdso */
	assert_true(taker.last[0]);

	taker.is_full = true;
	executable_acquire(cache, &claim);
	claim.build_id = build_id_of_self();
	executable_acquire(cache, &claim);
	assert_int_equal(taker.count, 1);
	assert_false(executable_cache_left_out(cache)); /* there is still no room */
	taker.is_full = false;
	assert_true(executable_cache_left_out(cache));
	assert_false(executable_cache_left_out(cache)); /* the note is cleared */

	struct executable *self = executable_acquire(cache, &claim);

	assert_int_equal(taker.count, 2);
	assert_string_equal(taker.last, self->build_id);
	for (int i = 0; i < 3; i++)
		executable_acquire(cache, &claim);
	claim.build_id = (str){ 0 };
	executable_acquire(cache, &claim);
	assert_int_equal(taker.count, 2);
	executable_cache_done(cache);
	free(cache);
}

static struct executable *take_number(struct executable_cache *cache, uint32_t number)
{
	char path[64];

	snprintf(path, sizeof(path), "/no/such/file/%u", number);
	return executable_acquire(
		cache, &(struct executable_claim){ .pid = UINT32_MAX,
						   .path = str_from(path),
						   .build_id = { (const char *)&number, 4 } });
}

static void evicts_the_least_recently_mapped_unmapped_file(void **state)
{
	struct executable_cache *cache = calloc(1, sizeof(*cache));

	(void)state;
	executable_cache_init(cache);

	struct executable *kept = take_number(cache, 1000000);

	for (uint32_t i = 0; i < EXECUTABLES_MAX + 10; i++)
		executable_release(take_number(cache, i));
	assert_int_equal(cache->by_id.len, EXECUTABLES_MAX);
	assert_int_equal(cache->over_limit, 0);
	assert_ptr_equal(take_number(cache, 1000000), kept);
	executable_cache_done(cache);
	free(cache);
}

RUN_TESTS(TEST(reads_a_file_once_with_or_without_a_build_id),
	  TEST(finds_the_file_of_an_exited_process_if_its_identity_is_certain),
	  TEST(anonymous_memory_has_no_executable),
	  TEST(offers_each_file_once_and_when_there_is_room),
	  TEST(evicts_the_least_recently_mapped_unmapped_file))
