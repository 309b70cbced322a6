// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/local_store.h"
#include "support/profiles.h"
#include "support/scratch.h"
#include "support/test.h"

#include <sys/stat.h>

static void writes_one_gzip_file_per_interval_under_its_start(void **state)
{
	struct scratch scratch = scratch_make();
	AUTO_ARENA arena = { 0 };
	struct local_store store;
	struct sample_set set;
	struct err err;
	unsigned char magic[2] = { 0 };
	const char *directory = str_z(&arena, str_format(&arena, "%s/a/b", scratch.path));
	const char *path = str_z(&arena, str_format(&arena, "%s/1790000000000.pb.gz", directory));

	(void)state;
	sample_set_init(&set, &arena);
	assert_true(local_store_open(&store, directory, &err));
	assert_true(local_store_write(&store, &set, 5, 6, &err));
	assert_int_equal(store.files, 0);
	profiles_fill(&set, &arena);
	assert_true(local_store_write(&store, &set, PROFILES_TIME, PROFILES_TIME + 10000, &err));
	local_store_close(&store);

	FILE *file = fopen(path, "rb");

	if (!file)
		abort();
	assert_int_equal(fread(magic, 1, 2, file), 2);
	assert_true(magic[0] == 0x1f && magic[1] == 0x8b);
	fclose(file);
	scratch_remove(&scratch);
}

static void reports_why_it_cannot_write(void **state)
{
	struct local_store store = { 0 };
	struct err err;

	(void)state;
	assert_false(local_store_open(&store, "/dev/null/x", &err));
	assert_non_null(strstr(err.msg, "local store"));
	local_store_close(&store);
}

RUN_TESTS(TEST(writes_one_gzip_file_per_interval_under_its_start),
	  TEST(reports_why_it_cannot_write))
