// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/executable.h"
#include "agent/process/executable_file.h"
#include "base/heap.h"
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

/* A source that reads this program for every request, unless the process is gone. */
static struct {
	struct executable *executables[4];
	uint32_t pids[4];
	size_t count, requests;
	bool is_full;
} requested;

static bool source_request(void *self, struct executable *executable,
			   const struct executable_claim *claim)
{
	(void)self;
	if (requested.is_full || requested.count == ARRAY_LEN(requested.executables))
		return false;
	requested.executables[requested.count] = executable;
	requested.pids[requested.count++] = claim->pid;
	requested.requests++;
	return true;
}

static bool source_receive(void *self, struct executable_reading **ret_reading)
{
	struct executable_reading *reading;
	struct executable file = { 0 };
	struct stat stat_of;
	struct err err;

	(void)self;
	if (!requested.count)
		return false;
	reading = heap_new(struct executable_reading);
	*reading =
		(struct executable_reading){ .executable = requested.executables[--requested.count],
					     .end = EXECUTABLE_NOT_FOUND,
					     .fd = -1,
					     .root = -1 };
	*ret_reading = reading;
	if (requested.pids[requested.count] == UINT32_MAX)
		return true;
	reading->end = EXECUTABLE_READ;
	reading->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(reading->fd, &stat_of), 0);
	assert_true(executable_file_read(&file, reading->fd, &err));
	reading->is_elf = true;
	memcpy(reading->build_id, file.build_id, sizeof(reading->build_id));
	reading->key = (struct executable_key){ .device = stat_of.st_dev, .inode = stat_of.st_ino };
	reading->segments = (struct elf_segment *)(uintptr_t)file.segments;
	reading->segment_count = file.segment_count;
	reading->path = heap_str(STR("/self"));
	return true;
}

static struct executable_cache *open_cache(void)
{
	static const struct executable_source source = { .request = source_request,
							 .receive = source_receive };
	struct executable_cache *cache = calloc(1, sizeof(*cache));

	memset(&requested, 0, sizeof(requested));
	executable_cache_init(cache);
	executable_cache_set_source(cache, &source);
	return cache;
}

static void close_cache(struct executable_cache *cache)
{
	executable_cache_done(cache);
	free(cache);
}

static void reads_a_file_once_with_or_without_a_build_id(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable_claim claim = claim_of_self();
	struct executable *by_file = executable_acquire(cache, &claim);

	(void)state;
	assert_true(executable_is_pending(by_file));
	assert_false(by_file->build_id[0]);
	assert_ptr_equal(executable_acquire(cache, &claim), by_file); /* it is being read */
	assert_int_equal(requested.requests, 1);
	assert_true(executable_cache_receive(cache));
	assert_false(executable_cache_receive(cache));
	assert_false(executable_is_pending(by_file));
	assert_true(by_file->segment_count > 0);
	assert_int_equal(strlen(by_file->build_id), build_id_of_self().len * 2);
	assert_ptr_equal(executable_acquire(cache, &claim), by_file);
	claim.build_id = build_id_of_self();
	assert_ptr_equal(executable_acquire(cache, &claim), by_file);
	assert_int_equal(cache->opened, 1);
	assert_int_equal(cache->by_id.len, 1);
	close_cache(cache);
}

/* Mapped by a process that the kernel reported, and found in /proc of another. */
static void two_claims_of_one_file_become_one(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable_claim claim = claim_of_self();
	struct executable *by_claim = executable_acquire(cache, &claim);
	struct executable *by_id;

	(void)state;
	claim.build_id = build_id_of_self();
	by_id = executable_acquire(cache, &claim);
	assert_ptr_not_equal(by_claim, by_id);
	assert_true(executable_cache_receive(cache));
	assert_ptr_equal(executable_of(by_claim), by_id);
	assert_ptr_equal(executable_of(by_id), by_id);
	assert_false(executable_is_pending(by_claim));
	assert_true(by_id->segment_count > 0);
	assert_ptr_equal(executable_cache_find(cache, str_from(by_id->build_id)), by_id);
	executable_release(by_claim);
	executable_release(by_id);
	close_cache(cache);
}

static void a_file_that_could_not_be_read_is_requested_again_after_a_pause(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable_claim claim = claim_of_self();
	struct executable *executable;

	(void)state;
	claim.pid = UINT32_MAX; /* it is gone */
	claim.build_id = STR("12345678");
	requested.is_full = true;
	executable = executable_acquire(cache, &claim);
	assert_false(executable_is_pending(executable));
	requested.is_full = false;
	executable->failed_ms -= EXECUTABLE_RETRY_MS;
	executable_acquire(cache, &claim);
	assert_true(executable_is_pending(executable));
	assert_true(executable_cache_receive(cache));
	assert_int_equal(executable->segment_count, 0);
	assert_int_equal(cache->unreadable, 1);
	assert_string_equal(executable->build_id, "3132333435363738"); /* the kernel's stays */
	executable_acquire(cache, &claim);
	assert_int_equal(requested.requests, 1);
	executable->failed_ms -= EXECUTABLE_RETRY_MS;
	executable_acquire(cache, &claim);
	assert_int_equal(requested.requests, 2);
	close_cache(cache);
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
			const struct executable_file *file)
{
	struct taker *taker = self;
	char magic[4];

	assert_true(file->path[0]);
	assert_int_equal(pread(file->fd, magic, sizeof(magic), 0), sizeof(magic));
	assert_memory_equal(magic, "\177ELF", sizeof(magic));
	snprintf(taker->last, sizeof(taker->last), "%s", executable->build_id);
	taker->count++;
	return true;
}

static void offers_each_file_once_and_when_there_is_room(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable_claim claim = claim_of_self();
	struct taker taker = { 0 };
	struct executable_sink sink = { .has_room = taker_has_room,
					.has_plenty = taker_has_room,
					.offer = taker_offer,
					.self = &taker };

	(void)state;
	executable_cache_set_sink(cache, EXECUTABLE_SINK_UPLOAD, &sink);
	assert_int_equal(taker.count, 1); /* the vdso */
	assert_true(taker.last[0]);

	taker.is_full = true;
	executable_acquire(cache, &claim);
	executable_cache_receive(cache);
	claim.build_id = build_id_of_self();
	executable_acquire(cache, &claim);
	executable_cache_receive(cache);
	assert_int_equal(taker.count, 1);
	assert_false(executable_cache_left_out(cache)); /* there is still no room */
	taker.is_full = false;
	assert_true(executable_cache_left_out(cache));
	assert_false(executable_cache_left_out(cache)); /* the note is cleared */

	struct executable *self = executable_acquire(cache, &claim);

	executable_cache_receive(cache);
	assert_int_equal(taker.count, 2);
	assert_string_equal(taker.last, self->build_id);
	for (int i = 0; i < 3; i++)
		executable_acquire(cache, &claim);
	claim.build_id = (str){ 0 };
	executable_acquire(cache, &claim);
	executable_cache_receive(cache);
	assert_int_equal(taker.count, 2);
	close_cache(cache);
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
	  TEST(two_claims_of_one_file_become_one),
	  TEST(a_file_that_could_not_be_read_is_requested_again_after_a_pause),
	  TEST(anonymous_memory_has_no_executable),
	  TEST(offers_each_file_once_and_when_there_is_room),
	  TEST(evicts_the_least_recently_mapped_unmapped_file))
