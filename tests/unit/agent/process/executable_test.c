// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/executable.h"
#include "agent/process/executable_file.h"
#include "agent/process/process.h"
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

/* A source that reads this program for every request, unless the process is gone. The inodes
 * are of files with the build id of this program. */
enum { ROOTS = 900, OTHERS, COPY_OF_ROOTS };

static struct {
	struct executable *executables[4];
	uint32_t pids[4];
	uint64_t inodes[4];
	bool only_located[4];
	size_t count, requests, located;
	bool is_full;
} requested;

static bool source_request(void *self, struct executable *executable,
			   const struct executable_claim *claim, bool only_locate)
{
	(void)self;
	if (requested.is_full || requested.count == ARRAY_LEN(requested.executables))
		return false;
	requested.executables[requested.count] = executable;
	requested.only_located[requested.count] = only_locate;
	requested.inodes[requested.count] = claim->inode;
	requested.pids[requested.count++] = claim->pid;
	requested.requests++;
	return true;
}

/* The files ROOTS and OTHERS have other content than one another. */
static void set_file(struct executable_reading *reading, uint64_t inode)
{
	reading->key.inode = inode;
	reading->is_trusted = inode != OTHERS && inode != COPY_OF_ROOTS;
	if (inode == OTHERS) {
		reading->segment_count--;
		memset(reading->hash, '1', sizeof(reading->hash));
	}
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
	if (requested.only_located[requested.count]) {
		requested.located++;
		reading->end = EXECUTABLE_LOCATED;
		reading->claim.inode = requested.inodes[requested.count];
		reading->key.inode = requested.inodes[requested.count];
		return true;
	}
	reading->end = EXECUTABLE_READ;
	reading->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(reading->fd, &stat_of), 0);
	assert_true(executable_file_read(&file, reading->fd, &err));
	reading->is_elf = true;
	memcpy(reading->build_id, file.build_id, sizeof(reading->build_id));
	reading->segments = (struct elf_segment *)(uintptr_t)file.segments;
	reading->segment_count = file.segment_count;
	memcpy(reading->hash, file.hash, sizeof(reading->hash));
	reading->claim.path.ptr = heap_str(STR("/self"));
	set_file(reading, requested.inodes[requested.count]);
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
	assert_ptr_equal(executable_cache_find(cache, str_from(by_id->own_id), by_id->number),
			 by_id);
	assert_null(executable_cache_find(cache, str_from(by_id->own_id), 12345));
	executable_release(by_claim);
	executable_release(by_id);
	close_cache(cache);
}

static void a_file_has_the_path_of_each_mapping(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable_claim claim = claim_of_self();
	struct executable *first = executable_acquire(cache, &claim), *second;

	(void)state;
	assert_true(executable_cache_receive(cache));
	claim.path = STR("/another/path");
	second = executable_acquire(cache, &claim);
	assert_ptr_not_equal(first, second);
	assert_true(executable_cache_receive(cache));
	assert_ptr_equal(executable_of(second), first);
	assert_string_equal(second->path, "/another/path");
	assert_ptr_equal(executable_acquire(cache, &claim), second);
	claim.path = claim_of_self().path;
	assert_ptr_equal(executable_acquire(cache, &claim), first);
	for (size_t i = 0; i < 2; i++) {
		executable_release(first);
		executable_release(second);
	}
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
	assert_false(executable_cache_request(cache, executable, &claim));
	executable->failed_ms -= EXECUTABLE_RETRY_MS;
	assert_true(executable_cache_request(cache, executable, &claim));
	assert_true(executable_is_pending(executable));
	assert_true(executable_cache_receive(cache));
	assert_int_equal(executable->segment_count, 0);
	assert_int_equal(cache->unreadable, 1);
	assert_string_equal(executable->build_id, "3132333435363738"); /* the kernel's stays */
	assert_false(executable_cache_request(cache, executable, &claim));
	executable->failed_ms -= EXECUTABLE_RETRY_MS;
	assert_true(executable_cache_request(cache, executable, &claim));
	assert_int_equal(requested.requests, 2);
	close_cache(cache);
}

static struct executable *acquire(struct executable_cache *cache,
				  const struct executable_claim *claim)
{
	struct executable *executable = executable_acquire(cache, claim);

	if (!executable)
		abort();
	return executable;
}

static struct executable *file_of(struct executable *executable)
{
	return executable->same_as ? executable->same_as : executable;
}

/* A process maps the file; the kernel reports no build id. */
static struct executable *find_in_proc(struct executable_cache *cache, uint64_t inode)
{
	struct executable_claim claim = claim_of_self();
	struct executable *executable;

	claim.inode = inode;
	executable = acquire(cache, &claim);
	executable_cache_receive(cache);
	return file_of(executable);
}

/* The kernel reports a mapping of a file with the build id of this program, and a sample of the
 * process needs the file. */
static struct executable *map_at_and_sample(struct executable_cache *cache, uint64_t inode,
					    str path)
{
	struct executable_claim claim = claim_of_self();
	struct executable *executable;

	claim.path = path;
	claim.inode = inode;
	claim.build_id = build_id_of_self();
	executable = acquire(cache, &claim);
	if (executable->is_unconfirmed) {
		assert_true(executable_is_pending(executable));
		assert_true(executable_cache_request(cache, executable, &claim));
		assert_false(executable->is_unconfirmed);
	}
	executable_cache_receive(cache);
	assert_false(executable_is_pending(executable));
	return file_of(executable);
}

static struct executable *map_and_sample(struct executable_cache *cache, uint64_t inode)
{
	return map_at_and_sample(cache, inode, claim_of_self().path);
}

static bool is_named_by_hash(const struct executable *executable)
{
	return str_starts_with(str_from(executable->build_id), STR("htlhash:"));
}

static void a_trusted_file_has_its_build_id_although_another_file_had_it_first(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable *others = find_in_proc(cache, OTHERS);

	(void)state;
	assert_false(others->is_trusted);
	assert_string_equal(others->build_id, others->own_id);

	struct executable *roots = map_and_sample(cache, ROOTS);

	assert_ptr_not_equal(roots, others);
	assert_true(roots->is_trusted);
	assert_int_equal(roots->segment_count, others->segment_count + 1);
	assert_string_equal(roots->build_id, roots->own_id);
	assert_string_equal(others->own_id, roots->own_id);
	assert_true(is_named_by_hash(others));
	assert_int_equal(cache->contradictions, 1);
	close_cache(cache);
}

static void nothing_of_another_file_replaces_a_trusted_one(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable *roots = map_and_sample(cache, ROOTS);
	struct executable *others = find_in_proc(cache, OTHERS);

	(void)state;
	assert_true(roots->is_trusted);
	assert_ptr_not_equal(roots, others);
	assert_true(is_named_by_hash(others));
	assert_string_equal(roots->build_id, roots->own_id);
	assert_ptr_equal(map_and_sample(cache, ROOTS), roots); /* it is not located again */
	assert_int_equal(requested.requests, 2);
	close_cache(cache);
}

static void a_file_elsewhere_with_the_build_id_of_a_trusted_one_is_looked_at(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable *roots = map_and_sample(cache, ROOTS);
	struct executable *others = map_at_and_sample(cache, OTHERS, STR("/home/program"));

	(void)state;
	assert_ptr_not_equal(roots, others);
	assert_true(is_named_by_hash(others));
	assert_string_equal(roots->build_id, roots->own_id);
	close_cache(cache);
}

static void a_trusted_file_is_located_once_for_each_path(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable *roots = map_and_sample(cache, ROOTS);

	(void)state;
	assert_ptr_equal(map_at_and_sample(cache, ROOTS, STR("/second/path")), roots);
	assert_int_equal(requested.located, 1);
	assert_ptr_equal(map_at_and_sample(cache, ROOTS, STR("/second/path")), roots);
	assert_int_equal(requested.located, 1);
	close_cache(cache);
}

static void a_file_of_a_user_is_located_for_each_mapping_and_read_once(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable *others = map_and_sample(cache, OTHERS);

	(void)state;
	assert_int_equal(requested.located, 0);
	assert_ptr_equal(map_and_sample(cache, OTHERS), others);
	assert_int_equal(requested.located, 1);
	assert_int_equal(cache->opened, 1);
	close_cache(cache);
}

static void a_copy_of_a_user_has_the_build_id_and_is_used_for_no_other_file(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable *roots = map_and_sample(cache, ROOTS);
	struct executable *copy = find_in_proc(cache, COPY_OF_ROOTS);

	(void)state;
	assert_ptr_not_equal(copy, roots);
	assert_false(copy->is_trusted);
	assert_string_equal(copy->build_id, roots->build_id);
	assert_int_equal(cache->contradictions, 0);
	close_cache(cache);
}

static void a_mapping_that_was_never_sampled_leaves_nothing(void **state)
{
	struct executable_cache *cache = open_cache();
	struct executable_claim claim = claim_of_self();

	(void)state;
	find_in_proc(cache, OTHERS);

	size_t before = cache->by_id.len;

	claim.build_id = build_id_of_self();

	struct executable *unsampled = executable_acquire(cache, &claim);

	assert_int_equal(cache->unconfirmed, 1);
	assert_int_equal(cache->by_id.len, before + 1);
	executable_release(unsampled);
	assert_int_equal(cache->unconfirmed, 0);
	assert_int_equal(cache->by_id.len, before);
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

static bool taker_has_plenty(void *self)
{
	return !((struct taker *)self)->is_full;
}

static bool taker_has_room(void *self, const struct executable *executable)
{
	(void)executable;
	return taker_has_plenty(self);
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
					.has_plenty = taker_has_plenty,
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
	return acquire(cache, &(struct executable_claim){ .pid = UINT32_MAX,
							  .path = str_from(path),
							  .inode = number + 1 });
}

static uint64_t refused(const struct executable_cache *cache)
{
	return cache->places.refused[OWNER_ROOT] + cache->places.refused[OWNER_USER] +
	       cache->places.refused[OWNER_CONTAINER];
}

static void evicts_the_least_recently_mapped_unmapped_file(void **state)
{
	struct executable_cache *cache = calloc(1, sizeof(*cache));

	(void)state;
	executable_cache_init(cache);

	const struct executable *kept = take_number(cache, 1000000);

	for (uint32_t i = 0; i < EXECUTABLES_MAX + 10; i++)
		executable_release(take_number(cache, i));
	assert_in_range(cache->by_id.len, EXECUTABLES_MAX / 2 - 64, EXECUTABLES_MAX / 2);
	assert_int_equal(refused(cache), 0);
	assert_string_equal(kept->path, "/no/such/file/1000000");
	executable_cache_done(cache);
	free(cache);
}

static bool source_of_all(void *self, struct executable *executable,
			  const struct executable_claim *claim, bool only_locate)
{
	(void)self, (void)executable, (void)claim, (void)only_locate;
	return true;
}

static struct process greedy = { .owner = { .id = 1, .class_of = OWNER_USER },
				 .is_owner_current = true },
		      modest = { .owner = { .id = 2, .class_of = OWNER_CONTAINER },
				 .is_owner_current = true };

/* Returns how many of the files were kept. All stay mapped. */
static uint32_t map_files(struct executable_cache *cache, struct process *process, uint32_t first,
			  uint32_t count, size_t path_len)
{
	uint32_t kept = 0;

	for (uint32_t i = first; i < first + count; i++) {
		char path[2048];
		int len = snprintf(path, sizeof(path), "/%0*u", (int)path_len - 1, i);

		kept += executable_acquire(
				cache, &(struct executable_claim){ .pid = UINT32_MAX,
								   .path = { path, (size_t)len },
								   .inode = i + 1,
								   .process = process }) != NULL;
	}
	return kept;
}

static void an_owner_of_many_files_leaves_the_others_their_share(void **state)
{
	struct executable_cache *cache = calloc(1, sizeof(*cache));

	(void)state;
	executable_cache_init(cache);
	assert_int_equal(map_files(cache, &greedy, 0, 2 * EXECUTABLES_MAX, 20),
			 EXECUTABLES_MAX / 2);
	assert_int_equal(refused(cache), 2 * EXECUTABLES_MAX - EXECUTABLES_MAX / 2);
	assert_int_equal(map_files(cache, &modest, 100000, 1000, 20), 1000);
	/* since less is free than before */
	assert_int_equal(map_files(cache, &greedy, 200000, 1, 20), 0);
	executable_cache_done(cache);
	free(cache);
}

static void files_with_long_paths_take_more_places(void **state)
{
	struct executable_cache *cache = calloc(1, sizeof(*cache));

	(void)state;
	executable_cache_init(cache);
	assert_int_equal(
		map_files(cache, &greedy, 0, EXECUTABLES_MAX, 4 * EXECUTABLE_PLACE_BYTES - 1),
		EXECUTABLES_MAX / 2 / 4);
	executable_cache_done(cache);
	free(cache);
}

static bool holds(const struct executable_cache *cache, const struct executable *wanted)
{
	index_for_each(&cache->by_id, at)
		if (*at == wanted)
			return true;
	return false;
}

static void files_of_the_largest_owner_are_evicted_first(void **state)
{
	struct executable_cache *cache = calloc(1, sizeof(*cache));
	const struct executable *kept;

	(void)state;
	executable_cache_init(cache);
	kept = take_number(cache, 1);
	executable_release((struct executable *)(uintptr_t)kept);
	for (uint32_t i = 0; i < EXECUTABLES_MAX; i++)
		executable_release(executable_acquire(
			cache, &(struct executable_claim){ .path = STR("/of/greedy"),
							   .inode = i + 10,
							   .process = &greedy }));
	assert_true(cache->by_id.len < EXECUTABLES_MAX);
	assert_true(holds(cache, kept)); /* the oldest, of an owner of little */
	assert_int_equal(refused(cache), 0);
	executable_cache_done(cache);
	free(cache);
}

static void an_owner_of_many_requests_leaves_the_others_theirs(void **state)
{
	static const struct executable_source never = { .request = source_of_all };
	struct executable_cache *cache = calloc(1, sizeof(*cache));

	(void)state;
	executable_cache_init(cache);
	executable_cache_set_source(cache, &never);
	(void)map_files(cache, &greedy, 0, FILE_REQUESTS_MAX, 20);
	assert_int_equal(cache->requests.held, FILE_REQUESTS_MAX / 2);
	(void)map_files(cache, &modest, 100000, 10, 20);
	assert_int_equal(cache->requests.held, FILE_REQUESTS_MAX / 2 + 10);
	assert_int_equal(cache->requests.refused[OWNER_USER], FILE_REQUESTS_MAX / 2);
	executable_cache_done(cache);
	free(cache);
}

struct same {
	struct executable *executable, *known;
	int count;
};

static bool refuse(void *self, struct executable *executable, const struct executable_file *file)
{
	(void)self;
	(void)executable;
	(void)file;
	return false;
}

static void note_same(void *self, struct executable *executable, struct executable *known)
{
	struct same *same = self;

	*same = (struct same){ executable, known, same->count + 1 };
}

static void the_sinks_hear_which_file_a_claim_is(void **state)
{
	struct executable_cache *cache = open_cache();
	struct same same = { 0 };
	struct executable_sink sink = { .offer = refuse, .is_same = note_same, .self = &same };

	(void)state;
	executable_cache_set_sink(cache, EXECUTABLE_SINK_UNWIND, &sink);

	struct executable *roots = map_and_sample(cache, ROOTS);

	assert_int_equal(same.count, 0); /* the first one */
	map_at_and_sample(cache, ROOTS, STR("/second/path"));
	assert_int_equal(same.count, 1); /* it was located */
	assert_ptr_equal(same.known, roots);
	assert_ptr_equal(same.executable->same_as, roots);
	find_in_proc(cache, ROOTS);
	assert_int_equal(same.count, 2); /* it was read */
	assert_ptr_equal(same.known, roots);
	close_cache(cache);
}

RUN_TESTS(TEST(an_owner_of_many_files_leaves_the_others_their_share),
	  TEST(files_with_long_paths_take_more_places),
	  TEST(files_of_the_largest_owner_are_evicted_first),
	  TEST(an_owner_of_many_requests_leaves_the_others_theirs),
	  TEST(reads_a_file_once_with_or_without_a_build_id),
	  TEST(two_claims_of_one_file_become_one), TEST(a_file_has_the_path_of_each_mapping),
	  TEST(a_file_that_could_not_be_read_is_requested_again_after_a_pause),
	  TEST(a_trusted_file_has_its_build_id_although_another_file_had_it_first),
	  TEST(nothing_of_another_file_replaces_a_trusted_one),
	  TEST(a_file_elsewhere_with_the_build_id_of_a_trusted_one_is_looked_at),
	  TEST(a_trusted_file_is_located_once_for_each_path),
	  TEST(the_sinks_hear_which_file_a_claim_is),
	  TEST(a_file_of_a_user_is_located_for_each_mapping_and_read_once),
	  TEST(a_copy_of_a_user_has_the_build_id_and_is_used_for_no_other_file),
	  TEST(a_mapping_that_was_never_sampled_leaves_nothing),
	  TEST(anonymous_memory_has_no_executable),
	  TEST(offers_each_file_once_and_when_there_is_room),
	  TEST(evicts_the_least_recently_mapped_unmapped_file))
