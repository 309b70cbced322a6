// SPDX-License-Identifier: Apache-2.0
#include "agent/process/sideband_record.h"
#include "base/buf.h"
#include "support/test.h"

#include <linux/perf_event.h>

static struct arena arena;

/* A record as the kernel writes it: header, body, trailer. */
static str record_of(uint32_t type, uint16_t misc, str body)
{
	struct buf out = { .arena = &arena };

	buf_u32(&out, type);
	buf_u16(&out, misc);
	buf_u16(&out, (uint16_t)(8 + body.len + 24));
	buf_str(&out, body);
	buf_u32(&out, 11); /* pid, tid of the thread that caused it */
	buf_u32(&out, 12);
	buf_u64(&out, 777); /* time */
	buf_u32(&out, 3);   /* cpu */
	buf_u32(&out, 0);
	return buf_bytes(&out);
}

static str fork_body(uint32_t pid, uint32_t parent, uint32_t tid)
{
	struct buf out = { .arena = &arena };

	buf_u32(&out, pid);
	buf_u32(&out, parent);
	buf_u32(&out, tid);
	buf_u32(&out, parent);
	buf_u64(&out, 776);
	return buf_bytes(&out);
}

static struct buf map_head(void)
{
	struct buf out = { .arena = &arena };

	buf_u32(&out, 100);
	buf_u32(&out, 101);
	buf_u64(&out, 0x7f0000001000);
	buf_u64(&out, 0x2000);
	buf_u64(&out, 0x26000);
	return out;
}

static struct sideband_record read_ok(str bytes)
{
	struct sideband_record record;
	struct err err = { 0 };

	assert_true(sideband_record_read(bytes, &record, &err));
	return record;
}

static void reads_forks_and_exits(void **state)
{
	(void)state;
	struct sideband_record fork = read_ok(record_of(PERF_RECORD_FORK, 0, fork_body(5, 4, 6)));
	struct sideband_record gone = read_ok(record_of(PERF_RECORD_EXIT, 0, fork_body(5, 4, 6)));

	assert_int_equal(fork.type, SIDEBAND_FORK);
	assert_int_equal(fork.pid, 5);
	assert_int_equal(fork.parent_pid, 4);
	assert_int_equal(fork.tid, 6);
	assert_int_equal(fork.time_ns, 777);
	assert_int_equal(gone.type, SIDEBAND_EXIT);
}

static void distinguishes_an_exec_from_a_change_of_name(void **state)
{
	struct buf body = { .arena = &arena };

	(void)state;
	buf_u32(&body, 100);
	buf_u32(&body, 100);
	buf_str(&body, (str){ "sh\0\0\0\0\0\0", 8 });

	struct sideband_record exec =
		read_ok(record_of(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, buf_bytes(&body)));

	assert_int_equal(exec.type, SIDEBAND_EXEC);
	assert_string_equal(exec.comm, "sh");
	assert_int_equal(read_ok(record_of(PERF_RECORD_COMM, 0, buf_bytes(&body))).type,
			 SIDEBAND_OTHER);
}

static void truncates_a_name_that_is_longer_than_the_kernels(void **state)
{
	struct buf body = { .arena = &arena };

	(void)state;
	buf_u64(&body, 0);
	buf_str(&body, STR("abcdefghijklmnopqrstuvwx"));
	assert_string_equal(
		read_ok(record_of(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, buf_bytes(&body)))
			.comm,
		"abcdefghijklmno");
}

static void reads_a_mapping_with_its_build_id(void **state)
{
	struct buf body = map_head();

	(void)state;
	buf_u8(&body, 20);
	buf_str(&body, (str){ "\0\0\0", 3 });
	buf_str(&body, STR("abcdefghijklmnopqrst"));
	buf_u64(&body, 0);
	buf_str(&body, (str){ "/lib/x.so\0\0\0\0\0\0\0", 16 });

	struct sideband_record map = read_ok(
		record_of(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, buf_bytes(&body)));

	assert_int_equal(map.type, SIDEBAND_MAP);
	assert_int_equal(map.pid, 100);
	assert_int_equal(map.address, 0x7f0000001000);
	assert_int_equal(map.length, 0x2000);
	assert_int_equal(map.file_offset, 0x26000);
	assert_int_equal(map.build_id_len, 20);
	assert_memory_equal(map.build_id, "abcdefghijklmnopqrst", 20);
	assert_true(str_eq(map.path, STR("/lib/x.so")));
}

static void reads_a_mapping_by_device_and_inode_where_there_is_no_build_id(void **state)
{
	struct buf body = map_head();

	(void)state;
	buf_u32(&body, 254);
	buf_u32(&body, 1);
	buf_u64(&body, 4711);
	buf_u64(&body, 2);
	buf_u64(&body, 0);
	buf_str(&body, (str){ "/a\0\0\0\0\0\0", 8 });

	struct sideband_record map = read_ok(record_of(PERF_RECORD_MMAP2, 0, buf_bytes(&body)));

	assert_int_equal(map.build_id_len, 0);
	assert_int_equal(map.device_major, 254);
	assert_int_equal(map.device_minor, 1);
	assert_int_equal(map.inode, 4711);
	assert_int_equal(map.generation, 2);
	assert_true(str_eq(map.path, STR("/a")));
}

static void rejects_a_build_id_longer_than_its_field(void **state)
{
	struct buf body = map_head();
	struct sideband_record record;
	struct err err = { 0 };

	(void)state;
	buf_u8(&body, 21);
	buf_str(&body, (str){ "\0\0\0", 3 });
	buf_str(&body, STR("abcdefghijklmnopqrst"));
	buf_u64(&body, 0);
	assert_false(sideband_record_read(
		record_of(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, buf_bytes(&body)),
		&record, &err));
}

static void reads_kernel_symbols_and_losses(void **state)
{
	struct buf symbol = { .arena = &arena }, lost = { .arena = &arena };

	(void)state;
	buf_u64(&symbol, 0xffffffffc0001000);
	buf_u32(&symbol, 64);
	buf_u16(&symbol, 1);
	buf_u16(&symbol, 1);
	buf_str(&symbol, (str){ "bpf_x\0\0\0", 8 });
	buf_u64(&lost, 1);
	buf_u64(&lost, 42);

	struct sideband_record record =
		read_ok(record_of(PERF_RECORD_KSYMBOL, 0, buf_bytes(&symbol)));

	assert_int_equal(record.type, SIDEBAND_KSYMBOL);
	assert_int_equal(record.length, 64);
	assert_true(record.unregistered);
	assert_true(str_eq(record.path, STR("bpf_x")));
	assert_int_equal(read_ok(record_of(PERF_RECORD_LOST, 0, buf_bytes(&lost))).lost, 42);
}

static void rejects_every_truncated_record(void **state)
{
	str whole = record_of(PERF_RECORD_FORK, 0, fork_body(5, 4, 6));
	str torn = record_of(PERF_RECORD_FORK, 0, (str){ fork_body(5, 4, 6).ptr, 23 });
	struct sideband_record record;
	struct err err = { 0 };

	(void)state;
	for (size_t len = 0; len < whole.len; len++)
		assert_false(sideband_record_read((str){ whole.ptr, len }, &record, &err));
	assert_false(sideband_record_read(torn, &record, &err));
}

RUN_TESTS(TEST(reads_forks_and_exits), TEST(distinguishes_an_exec_from_a_change_of_name),
	  TEST(truncates_a_name_that_is_longer_than_the_kernels),
	  TEST(reads_a_mapping_with_its_build_id),
	  TEST(reads_a_mapping_by_device_and_inode_where_there_is_no_build_id),
	  TEST(rejects_a_build_id_longer_than_its_field), TEST(reads_kernel_symbols_and_losses),
	  TEST(rejects_every_truncated_record))
