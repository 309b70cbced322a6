// SPDX-License-Identifier: Apache-2.0
/*
 * Without a service and without an uploader program, which is installed beside the agent only.
 * tests/integration/test_upload.py tests the rest.
 */
#include "agent/agent_limits.h"
#include "agent/process/owner.h"
#include "agent/upload/upload.h"
#include "base/clock.h"
#include "support/test.h"

#include <dirent.h>
#include <sys/mman.h>

static size_t open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(directory)) /* NOLINT(concurrency-mt-unsafe): ours */
		count++;
	closedir(directory);
	return count;
}

static struct debug_upload_options options_of(const char *url)
{
	return (struct debug_upload_options){ .url = url,
					      .token_file = "",
					      .timeout_ns = NS_PER_SECOND,
					      .deleted_max_bytes = 1 << 20 };
}

static const struct share_owner user = { .id = 1, .class_of = OWNER_USER },
				container = { .id = 2, .class_of = OWNER_CONTAINER };

static int64_t postponed(enum owner_class class)
{
	for (size_t i = 0; upload_metrics[i]; i++)
		if (strcmp(upload_metrics[i]->name, "decima_agent_debuginfo_postponed_total") == 0)
			return metric_get_at(upload_metrics[i], class);
	return -1;
}

static void without_a_url_no_file_is_accepted(void **state)
{
	struct debug_upload_options options = options_of("");
	struct debug_upload upload;
	struct err err;

	(void)state;
	assert_true(upload_start(&upload, &options, &err));
	assert_false(upload_has_room(&upload, user));
	assert_false(upload_offer(&upload, &(struct upload_file){ .build_id = "00" }));
	upload_stop(&upload);
}

static void a_url_of_another_scheme_is_rejected(void **state)
{
	static const char *const urls[] = { "debuginfo:8002", "ftp://debuginfo", "file:///x" };
	struct debug_upload upload;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		struct debug_upload_options options = options_of(urls[i]);
		struct err err = { 0 };

		assert_false(upload_start(&upload, &options, &err));
		assert_non_null(strstr(err.msg, urls[i]));
		upload_stop(&upload);
	}
}

static void owners_share_the_places_and_all_files_are_closed(void **state)
{
	struct debug_upload_options options = options_of("http://127.0.0.1:1");
	AUTO_FD fd = memfd_create("program", MFD_CLOEXEC);
	struct upload_file file = { .build_id = "0123456789abcdef",
				    .path = "/bin/x",
				    .fd = fd,
				    .root = -1,
				    .owner = user };
	size_t before = open_descriptors();
	int64_t postponed_before = postponed(OWNER_USER);
	struct debug_upload upload;
	struct err err;

	(void)state;
	assert_true(upload_start(&upload, &options, &err));
	assert_true(upload_has_plenty(&upload));
	for (size_t i = 0; i < UPLOADS_WAITING_MAX / 2; i++)
		assert_true(upload_offer(&upload, &file));
	assert_false(upload_has_room(&upload, user));
	assert_false(upload_has_plenty(&upload));
	assert_false(upload_offer(&upload, &file));
	assert_int_equal(postponed(OWNER_USER) - postponed_before, 2);
	file.owner = container;
	for (size_t i = 0; i < UPLOADS_WAITING_MAX / 4; i++)
		assert_true(upload_offer(&upload, &file));
	assert_true(open_descriptors() >= before + UPLOADS_WAITING_MAX / 4 * 3);
	upload_stop(&upload);
	assert_int_equal(open_descriptors(), before);
	upload_stop(&upload);
}

RUN_TESTS(TEST(without_a_url_no_file_is_accepted), TEST(a_url_of_another_scheme_is_rejected),
	  TEST(owners_share_the_places_and_all_files_are_closed))
