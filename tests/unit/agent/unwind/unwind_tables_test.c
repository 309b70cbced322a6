// SPDX-License-Identifier: Apache-2.0
/*
 * Executables with known build ids, and a source whose responses the test chooses.
 */
#include "agent/agent_limits.h"
#include "agent/unwind/unwind_tables_internal.h"
#include "base/clock.h"
#include "base/heap.h"
#include "support/fake_unwind_memory.h"
#include "support/test.h"
#include "unwind/unwind_format.h"

#include <stdio.h>
#include <sys/mman.h>

enum { FILES = 8 };

static struct fake_unwind_memory fake;
static struct unwind_store store;
static struct unwind_tables tables;
static struct executable_cache cache;
static struct executable *files[FILES];
static const struct unwind_mapper no_process = { .pid = UINT32_MAX, .is_needed = true };
static const struct unwind_mapper maps_it = { .pid = UINT32_MAX };
static uint64_t now_ns;

/* Requests without a response yet, and the responses to return. */
static struct {
	char requested[FILES + UNWIND_REQUESTS_MAX][BUILD_ID_TEXT_MAX];
	size_t requested_len, requests, files;
	struct unwind_table_response responses[FILES];
	size_t responses_len;
	bool is_full;
} source;

static bool fake_request(void *self, const struct executable *executable, int fd)
{
	(void)self;
	if (source.is_full)
		return false;
	if (fd >= 0) {
		source.files++;
		close(fd);
	}
	snprintf(source.requested[source.requested_len++], BUILD_ID_TEXT_MAX, "%s",
		 executable->own_id);
	source.requests++;
	return true;
}

static bool fake_receive(void *self, struct unwind_table_response *ret_response)
{
	(void)self;
	if (!source.responses_len)
		return false;
	*ret_response = source.responses[--source.responses_len];
	return true;
}

static struct executable *acquire(uint32_t n)
{
	struct executable_claim claim = { .pid = UINT32_MAX,
					  .path = STR("/nowhere"),
					  .build_id = { (const char *)&n, sizeof(n) } };
	struct executable *executable = executable_acquire(&cache, &claim);

	if (executable && !executable->segment_count) {
		executable->segments = heap_new(struct elf_segment);
		executable->segment_count = 1;
	}
	return executable;
}

static void begin_with(uint64_t segments)
{
	struct unwind_memory memory = fake_unwind_memory(&fake);
	const struct unwind_table_source from = { .request = fake_request,
						  .receive = fake_receive };

	memset(&source, 0, sizeof(source));
	now_ns = 1000 * NS_PER_SECOND;
	unwind_store_init(&store, &memory, segments * FAKE_SEGMENT_BYTES);
	executable_cache_init(&cache);
	unwind_tables_init(&tables, &store, &cache, &from);

	struct executable_sink sink = unwind_tables_sink(&tables);

	executable_cache_set_sink(&cache, EXECUTABLE_SINK_UNWIND, &sink);
	for (uint32_t i = 0; i < FILES; i++)
		files[i] = acquire(1000 + i);
}

static void end(void)
{
	executable_cache_done(&cache);
	unwind_tables_done(&tables);
	unwind_store_done(&store);
	assert_int_equal(fake.segment_count, 0);
}

static void rounds(int n)
{
	while (n--) {
		now_ns += 250 * NS_PER_MS;
		unwind_store_round(&store);
		unwind_tables_round(&tables, now_ns);
		unwind_store_unmap_idle(&store);
	}
}

static void want(int i)
{
	unwind_tables_want(&tables, files[i], &no_process, now_ns);
}

/* Each page of the file's i-th page begins with its number. */
static int table_file(uint32_t pages)
{
	uint8_t page[UNWIND_PAGE_BYTES] = { 0 };
	struct unwind_file_header header = { .page_count = pages };
	int fd = memfd_create("table", MFD_CLOEXEC);

	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	for (uint32_t i = 0; i < pages; i++) {
		memcpy(page, &i, sizeof(i));
		assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	}
	return fd;
}

static void respond(const struct executable *executable, uint32_t outcome, uint32_t pages)
{
	struct unwind_table_response *response = &source.responses[source.responses_len++];

	*response = (struct unwind_table_response){ .outcome = outcome, .pages = pages, .fd = -1 };
	response->number = executable->number;
	snprintf(response->own_id, sizeof(response->own_id), "%s", executable->own_id);
	if (outcome == UNWIND_BUILT)
		response->fd = table_file(pages);
	for (size_t i = 0; i < source.requested_len; i++)
		if (strcmp(source.requested[i], executable->own_id) == 0)
			memmove(source.requested[i], source.requested[--source.requested_len],
				BUILD_ID_TEXT_MAX);
}

/* Want a table, request it, respond, load it. */
static void load(int i, uint32_t pages)
{
	want(i);
	rounds(1);
	respond(files[i], UNWIND_BUILT, pages);
	rounds(1);
}

static void a_table_is_requested_once_and_loaded(void **state)
{
	(void)state;
	begin_with(4);
	want(0);
	want(0);
	rounds(2);
	want(0);
	assert_int_equal(source.requests, 1);
	respond(files[0], UNWIND_BUILT, 100);
	rounds(1);
	assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_LOADED);
	assert_true(tables.changed);
	assert_int_equal(tables.pages, 100);
	for (uint32_t i = 0; i < 100; i++) {
		const void *page =
			fake_at(&fake, (uint64_t)(files[0]->unwind.page + i) * UNWIND_PAGE_BYTES);

		assert_memory_equal(page, &i, sizeof(i));
	}
	want(0);
	rounds(2);
	assert_int_equal(source.requests, 1);
	end();
}

static void the_table_that_most_samples_want_is_requested_first(void **state)
{
	(void)state;
	begin_with(4);
	want(0);
	for (int i = 0; i < 5; i++)
		want(2);
	for (int i = 0; i < 3; i++)
		want(1);
	rounds(1);
	assert_int_equal(source.requested_len, 3);
	assert_string_equal(source.requested[0], files[2]->build_id);
	assert_string_equal(source.requested[1], files[1]->build_id);
	assert_string_equal(source.requested[2], files[0]->build_id);
	end();
}

/* files[1] is read, and turns out to be files[2]. */
static void become_same(bool is_awaited, bool is_needed)
{
	struct executable_sink sink = unwind_tables_sink(&tables);

	files[1]->unwind.is_awaited = is_awaited;
	files[1]->unwind.is_needed = is_needed;
	sink.is_same(sink.self, files[1], files[2]);
}

static void a_table_that_a_sample_awaits_is_requested_for_the_file_that_it_is(void **state)
{
	(void)state;
	begin_with(4);
	become_same(false, true);
	rounds(1);
	assert_int_equal(source.requested_len, 0);
	become_same(true, true);
	become_same(true, true);
	rounds(1);
	assert_int_equal(source.requested_len, 1);
	assert_string_equal(source.requested[0], files[2]->build_id);
	assert_true(files[2]->unwind.is_needed);
	assert_false(files[1]->unwind.is_awaited);
	respond(files[2], UNWIND_BUILT, 100);
	rounds(1);
	become_same(true, true);
	rounds(1);
	assert_int_equal(source.requests, 1);
	end();
}

static void while_the_source_is_full_requests_wait(void **state)
{
	(void)state;
	begin_with(4);
	source.is_full = true;
	want(0);
	rounds(3);
	assert_int_equal(tables.wanted.len, 1);
	source.is_full = false;
	rounds(1);
	assert_int_equal(tables.wanted.len, 0);
	assert_int_equal(source.requested_len, 1);
	end();
}

static void a_table_that_cannot_be_built_is_not_retried(void **state)
{
	static const uint32_t for_good[] = { UNWIND_NO_ROWS,   UNWIND_MALFORMED,
					     UNWIND_TOO_LARGE, UNWIND_WRONG_MACHINE,
					     UNWIND_CRASHED,   UNWIND_TIMED_OUT };

	(void)state;
	begin_with(4);
	for (int i = 0; i < (int)ARRAY_LEN(for_good); i++) {
		want(i);
		rounds(1);
		respond(files[i], for_good[i], 0);
		rounds(1);
		assert_int_equal(files[i]->unwind.state, UNWIND_TABLE_FAILED);
		now_ns += 3600 * NS_PER_SECOND;
		want(i);
		rounds(1);
		assert_int_equal(source.requests, i + 1);
		REASON_MOVED(unwind_outcome_names[for_good[i]], tables.outcomes[for_good[i]], 1);
	}
	end();
}

static void an_unreadable_file_is_retried_after_growing_pauses(void **state)
{
	(void)state;
	begin_with(4);
	for (int i = 0; i < 3; i++) {
		uint64_t pause_ns = ((uint64_t)UNWIND_RETRY_MS << i) * NS_PER_MS;

		want(0);
		rounds(1);
		respond(files[0], UNWIND_UNREADABLE, 0);
		rounds(1);
		assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_NONE);
		now_ns += pause_ns - NS_PER_SECOND;
		want(0);
		assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_NONE);
		now_ns += NS_PER_SECOND;
	}
	load(0, 1);
	assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_LOADED);
	end();
}

static void the_least_recently_sampled_table_is_evicted(void **state)
{
	(void)state;
	begin_with(1);
	load(0, 20);
	load(1, 20);
	load(2, 20);
	now_ns += UNWIND_KEPT_MS * NS_PER_MS;
	files[0]->sampled_ns = now_ns - UNWIND_KEPT_MS * NS_PER_MS;
	files[1]->sampled_ns = now_ns - UNWIND_KEPT_MS * NS_PER_MS - 1;
	files[2]->sampled_ns = now_ns;
	tables.changed = false;
	load(3, 20);
	assert_int_equal(tables.evictions, 1);
	assert_int_equal(files[1]->unwind.page, 0);
	assert_true(tables.changed);
	assert_int_equal(files[3]->unwind.state,
			 UNWIND_TABLE_FETCHED); /* the pages it needs are quarantined */
	rounds(2);
	assert_int_equal(files[3]->unwind.state, UNWIND_TABLE_LOADED);
	assert_int_equal(tables.evictions, 1);
	assert_int_equal(fake.segment_count, 1);

	/* sampled again, it comes back */
	now_ns += UNWIND_KEPT_MS * NS_PER_MS;
	load(1, 20);
	rounds(2);
	assert_int_equal(files[1]->unwind.state, UNWIND_TABLE_LOADED);
	assert_int_equal(tables.evictions, 2);
	end();
}

static void while_all_tables_are_in_use_another_is_rejected(void **state)
{
	(void)state;
	begin_with(1);
	load(0, 60);
	files[0]->sampled_ns = now_ns;
	load(1, 60);
	assert_int_equal(tables.refused[OWNER_ROOT], 1);
	assert_int_equal(files[1]->unwind.state, UNWIND_TABLE_NONE);
	assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_LOADED);
	want(1);
	rounds(1);
	assert_int_equal(source.requests, 2); /* too early */
	now_ns += UNWIND_KEPT_MS * NS_PER_MS;
	load(1, 60);
	rounds(2);
	assert_int_equal(files[1]->unwind.state, UNWIND_TABLE_LOADED);
	assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_NONE);
	end();
}

/* The files from `first` on are another owner's, the others one owner's. */
static void share_files_from(int first)
{
	for (int i = first; i < FILES; i++) {
		shares_release(&cache.places, files[i]->owner, 1);
		files[i]->owner = (struct share_owner){ .id = 1, .class_of = OWNER_USER };
		assert_true(shares_take(&cache.places, files[i]->owner, 1));
	}
}

static void a_table_in_use_gives_way_to_one_of_an_owner_with_fewer_pages(void **state)
{
	(void)state;
	begin_with(1);
	share_files_from(2);
	load(0, 20);
	load(1, 35);
	files[0]->sampled_ns = now_ns - 1;
	files[1]->sampled_ns = now_ns;
	load(2, 20);
	rounds(2);
	assert_int_equal(files[2]->unwind.state, UNWIND_TABLE_LOADED);
	assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_NONE);
	files[2]->sampled_ns = now_ns;
	load(3, 20); /* with it, the owner would have more than the other */
	rounds(2);
	assert_int_equal(files[3]->unwind.state, UNWIND_TABLE_NONE);
	assert_int_equal(files[1]->unwind.state, UNWIND_TABLE_LOADED);
	assert_int_equal(tables.refused[OWNER_USER], 1);
	end();
}

static void an_owner_who_wants_many_tables_leaves_requests_to_others(void **state)
{
	enum { LAST = FILES - 1, MANY = UNWIND_REQUESTS_MAX };
	struct executable *more[MANY];

	(void)state;
	begin_with(4);
	share_files_from(LAST);
	for (uint32_t i = 0; i < MANY; i++) {
		more[i] = acquire(2000 + i);
		for (int samples = 0; samples < 5; samples++)
			unwind_tables_want(&tables, more[i], &no_process, now_ns);
	}
	rounds(1);
	assert_int_equal(source.requests, UNWIND_REQUESTS_MAX / 2);
	want(LAST);
	rounds(1);
	assert_int_equal(source.requests, UNWIND_REQUESTS_MAX / 2 + 1);
	assert_int_equal(files[LAST]->unwind.state, UNWIND_TABLE_REQUESTED);
	respond(more[0], UNWIND_BUILT, 1);
	rounds(1);
	assert_int_equal(tables.requests.held, UNWIND_REQUESTS_MAX / 2); /* less is free now */
	end();
}

static void nothing_is_evicted_for_a_table_that_no_frame_needs(void **state)
{
	(void)state;
	begin_with(1);
	load(0, 60);
	now_ns += 3600 * NS_PER_SECOND;
	unwind_tables_want(&tables, files[1], &maps_it, now_ns);
	rounds(1);
	respond(files[1], UNWIND_BUILT, 60);
	rounds(1);
	assert_int_equal(tables.skipped, 1);
	assert_int_equal(tables.refused[OWNER_ROOT], 0);
	assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_LOADED);
	unwind_tables_want(&tables, files[1], &maps_it, now_ns);
	assert_int_equal(tables.wanted.len, 0); /* too early, */
	load(1, 60);                            /* but not when it is needed */
	rounds(2);
	assert_int_equal(files[1]->unwind.state, UNWIND_TABLE_LOADED);
	assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_NONE);
	end();
}

static void a_table_that_was_never_sampled_is_evicted_first(void **state)
{
	(void)state;
	begin_with(1);
	load(0, 30);
	files[0]->sampled_ns = now_ns;
	load(1, 30);
	now_ns += 3600 * NS_PER_SECOND;
	load(2, 20);
	rounds(2);
	assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_LOADED);
	assert_int_equal(files[1]->unwind.state, UNWIND_TABLE_NONE);
	assert_int_equal(files[2]->unwind.state, UNWIND_TABLE_LOADED);
	end();
}

static void a_large_table_is_not_overtaken_by_small_ones(void **state)
{
	(void)state;
	begin_with(1);
	load(0, 60);
	now_ns += 3600 * NS_PER_SECOND;
	load(1, 60); /* waits for the pages of the other */
	want(2);
	rounds(1);
	respond(files[2], UNWIND_BUILT, 3);
	rounds(1);
	assert_int_equal(files[1]->unwind.state, UNWIND_TABLE_LOADED);
	assert_int_equal(files[2]->unwind.state, UNWIND_TABLE_LOADED);
	end();
}

static void nothing_is_evicted_for_a_table_that_can_never_fit(void **state)
{
	(void)state;
	begin_with(2);
	load(0, 60);
	now_ns += 3600 * NS_PER_SECOND;
	load(1, 2 * UNWIND_SEGMENT_PAGES);
	assert_int_equal(tables.refused[OWNER_ROOT], 1);
	assert_int_equal(tables.evictions, 0);
	assert_int_equal(files[0]->unwind.state, UNWIND_TABLE_LOADED);
	end();
}

static void a_response_for_an_evicted_file_is_dropped(void **state)
{
	(void)state;
	begin_with(4);
	want(0);
	rounds(1);

	struct executable evicted = { .segment_count = 0 };

	snprintf(evicted.own_id, sizeof(evicted.own_id), "0123");
	respond(&evicted, UNWIND_BUILT, 3);
	rounds(1);
	assert_int_equal(tables.loaded.len, 0);
	assert_int_equal(store.pages_used, 0);
	end();
}

static void the_pages_of_a_file_are_released_with_it(void **state)
{
	struct executable_sink sink;

	(void)state;
	begin_with(4);
	load(0, 30);
	sink = unwind_tables_sink(&tables);
	sink.forget(sink.self, files[0]);
	assert_int_equal(files[0]->unwind.page, 0);
	rounds(2);
	assert_int_equal(store.pages_used, 0);
	end();
}

static void files_stay_open_while_they_are_mapped(void **state)
{
	AUTO_FD fd = memfd_create("file", MFD_CLOEXEC);
	const struct executable_file file = { .path = "/x", .fd = fd, .root = -1 };

	(void)state;
	begin_with(4);

	size_t before = tables.files.open.len; /* the vdso */
	struct executable_sink sink = unwind_tables_sink(&tables);

	files[0]->cache = NULL; /* it was read, so it stays without references */
	assert_true(sink.offer(sink.self, files[0], &file));
	assert_true(sink.offer(sink.self, files[0], &file));
	assert_int_equal(tables.files.open.len, before + 1);
	unwind_tables_close_unmapped(&tables);
	assert_true(files[0]->unwind.has_file);
	executable_release(files[0]);
	unwind_tables_close_unmapped(&tables);
	assert_false(files[0]->unwind.has_file);
	end();
}

/* No file system has it, so it cannot be opened by its path. */
static void the_vdso_is_requested_with_its_file_although_no_process_mapped_it_before(void **state)
{
	(void)state;
	begin_with(4);
	assert_true(cache.vdso->unwind.has_file);
	unwind_tables_close_unmapped(&tables);
	assert_false(cache.vdso->unwind.has_file);
	unwind_tables_want(&tables, cache.vdso, &maps_it, now_ns);
	rounds(1);
	assert_int_equal(source.requests, 1);
	assert_int_equal(source.files, 1);
	end();
}

RUN_TESTS(TEST(a_table_is_requested_once_and_loaded),
	  TEST(the_table_that_most_samples_want_is_requested_first),
	  TEST(a_table_that_a_sample_awaits_is_requested_for_the_file_that_it_is),
	  TEST(while_the_source_is_full_requests_wait),
	  TEST(a_table_that_cannot_be_built_is_not_retried),
	  TEST(an_unreadable_file_is_retried_after_growing_pauses),
	  TEST(the_least_recently_sampled_table_is_evicted),
	  TEST(while_all_tables_are_in_use_another_is_rejected),
	  TEST(a_table_in_use_gives_way_to_one_of_an_owner_with_fewer_pages),
	  TEST(an_owner_who_wants_many_tables_leaves_requests_to_others),
	  TEST(nothing_is_evicted_for_a_table_that_no_frame_needs),
	  TEST(a_table_that_was_never_sampled_is_evicted_first),
	  TEST(a_large_table_is_not_overtaken_by_small_ones),
	  TEST(nothing_is_evicted_for_a_table_that_can_never_fit),
	  TEST(a_response_for_an_evicted_file_is_dropped),
	  TEST(the_pages_of_a_file_are_released_with_it),
	  TEST(files_stay_open_while_they_are_mapped),
	  TEST(the_vdso_is_requested_with_its_file_although_no_process_mapped_it_before))
