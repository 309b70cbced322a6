// SPDX-License-Identifier: Apache-2.0
#include "agent/process/proc_maps_internal.h"
#include "support/test.h"

static const char text[] =
	"55e0c7a00000-55e0c7a05000 r--p 00000000 fe:01 3932   /usr/bin/dash\n"
	"55e0c7a05000-55e0c7a1a000 r-xp 00005000 fe:01 3932                       /usr/bin/dash\n"
	"7f0000000000-7f0000001000 r-xp 00000000 00:01 77 /memfd:jit code (deleted)\n"
	"7f0000002000-7f0000003000 rwxp 00000000 00:00 0 \n"
	"7f0000004000-7f0000005000 r-x\n"
	"zzzz-7f0000005000 r-xp 00000000 00:00 0\n"
	"7f0000006000-7f0000005000 r-xp 00000000 00:00 0\n"
	"7ffd8c9f2000-7ffd8c9f4000 r-xp 00000000 00:00 0                          [vdso]";

static void returns_the_executable_mappings_and_skips_others(void **state)
{
	static const struct {
		uint64_t start, file_offset, inode;
		const char *path;
		bool deleted;
	} rows[] = {
		{ 0x55e0c7a05000, 0x5000, 3932, "/usr/bin/dash", false },
		{ 0x7f0000000000, 0, 77, "/memfd:jit code", true },
		{ 0x7f0000002000, 0, 0, "", false },
		{ 0x7ffd8c9f2000, 0, 0, "[vdso]", false },
	};
	str rest = str_from(text);
	struct proc_map map;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(proc_maps_next(&rest, &map));
		assert_int_equal(map.start, rows[i].start);
		assert_int_equal(map.file_offset, rows[i].file_offset);
		assert_int_equal(map.inode, rows[i].inode);
		assert_int_equal(map.deleted, rows[i].deleted);
		assert_true(str_eq(map.path, str_from(rows[i].path)));
	}
	assert_false(proc_maps_next(&rest, &map));
}

RUN_TESTS(TEST(returns_the_executable_mappings_and_skips_others))
