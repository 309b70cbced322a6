// SPDX-License-Identifier: Apache-2.0
/*
 * A table finds what was written for every address; a corrupt table is rejected.
 */
#include "base/hash.h"
#include "support/test.h"
#include "symbols/symbol_build.h"
#include "symbols/symbol_format_internal.h"
#include "symbols/symbol_table.h"
#include "symbols/symbol_writer_internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

enum { ROWS = 5000, FUNCTIONS = 300, FILES = 40, DEPTH = 5 };

static uint32_t random_below(uint32_t *seed, uint32_t bound)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % bound;
}

/* The rows of a table, to compare with later. */
struct truth {
	struct symbol_row rows[ROWS];
	struct symbol_node nodes[FUNCTIONS * DEPTH];
	uint32_t node_count;
};

/* A function and its inlined calls, at most DEPTH deep; often no function at all. */
static void truth_add_nodes(struct truth *truth, struct symbol_writer *writer, uint32_t *seed)
{
	uint32_t parent = 0;

	for (uint32_t depth = random_below(seed, DEPTH); depth; depth--) {
		struct symbol_node node = { .parent = parent };
		char text[64];

		snprintf(text, sizeof(text), "function_%u", random_below(seed, 100));
		node.function = symbol_writer_qualified(
			writer, str_from(text),
			depth % 2 ? str_format(writer->arena, "app::%s", text) : (str){ 0 }, depth);
		if (parent) {
			node.call_file = 1 + random_below(seed, FILES);
			node.call_line = random_below(seed, 1000);
		}
		parent = symbol_writer_node(writer, node);
		assert_int_equal(parent, truth->node_count);
		truth->nodes[truth->node_count++] = node;
	}
}

static void truth_fill(struct truth *truth, struct symbol_writer *writer, uint32_t *seed)
{
	uint64_t address = 0x1000;
	char text[64];

	for (uint32_t i = 0; i < FILES; i++) {
		snprintf(text, sizeof(text), "/src/%u.c", i);
		assert_int_equal(symbol_writer_file(writer, str_from(text)), i + 1);
		assert_int_equal(symbol_writer_file(writer, str_from(text)), i + 1);
	}
	truth->node_count = 1;
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		truth_add_nodes(truth, writer, seed);
	for (size_t i = 0; i < ROWS; i++) {
		struct symbol_row *row = &truth->rows[i];

		address += 1 + random_below(seed, 50);
		if (i == ROWS / 2) /* the upper half of the addresses, as in the kernel */
			address |= 0xffffffff00000000;
		*row = (struct symbol_row){ .address = address,
					    .node = random_below(seed, truth->node_count) };
		if (row->node) {
			row->file = 1 + random_below(seed, FILES);
			row->line = random_below(seed, i % 9 ? 500 : UINT32_MAX);
		}
		symbol_writer_row(writer, *row);
	}
}

static void finds_the_rows_that_were_written(void **state)
{
	static struct truth truth;
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = memfd_create("table", MFD_CLOEXEC);
	struct symbol_writer writer;
	struct symbol_table table;
	struct symbol_line lines[SYMBOL_LINES_MAX];
	uint32_t seed = 7;
	struct err err;

	(void)state;
	symbol_writer_init(&writer, &arena);
	truth_fill(&truth, &writer, &seed);
	assert_true(symbol_writer_write(&writer, fd, &err));
	if (!symbol_table_open(&table, fd, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(symbol_table_find(&table, truth.rows[0].address - 1, lines), 0);
	for (size_t i = 0; i < ROWS; i++) {
		const struct symbol_row *row = &truth.rows[i];
		uint64_t end = i + 1 < ROWS ? row[1].address : row->address + 1000;
		size_t count = symbol_table_find(&table, row->address, lines), at = 0;
		uint32_t file = row->file, line = row->line;

		assert_int_equal(symbol_table_find(&table, end - 1, lines), count);
		for (uint32_t node = row->node; node; node = truth.nodes[node].parent) {
			char name[64];

			assert_int_equal(lines[at].line, line);
			assert_int_equal(
				lines[at].start_line,
				writer.functions.items[truth.nodes[node].function].start_line);
			snprintf(name, sizeof(name), "/src/%u.c", file - 1);
			assert_true(str_eq(lines[at].file, file ? str_from(name) : (str){ 0 }));
			if (lines[at].start_line % 2)
				assert_true(str_ends_with(lines[at].name, lines[at].system_name) &&
					    str_starts_with(lines[at].name, STR("app::function_")));
			else
				assert_int_equal(lines[at].name.len, 0);
			file = truth.nodes[node].call_file;
			line = truth.nodes[node].call_line;
			at++;
		}
		assert_int_equal(at, count);
	}
	symbol_table_close(&table);
}

static bool build(const char *path, struct symbol_table *table, struct err *err)
{
	AUTO_FD elf = open(path, O_RDONLY | O_CLOEXEC), out = memfd_create("table", MFD_CLOEXEC);

	return symbol_build(&(struct symbol_build_options){ 0 }, elf, out, err) &&
	       symbol_table_open(table, out, err);
}

/* The linked address: the dynamic linker has the load address of the program. */
static uint64_t linked_address(const void *function)
{
	Dl_info info;

	assert_true(dladdr(function, &info));
	return (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)info.dli_fbase;
}

static void symbolizes_this_test(void **state)
{
	struct symbol_line lines[SYMBOL_LINES_MAX];
	struct symbol_table table;
	struct err err;

	(void)state;
	if (!build("/proc/self/exe", &table, &err))
		fail_msg("%s", err.msg);

	size_t count = symbol_table_find(&table, linked_address((const void *)symbolizes_this_test),
					 lines);

	assert_true(count >= 1);
	assert_true(str_eq(lines[count - 1].system_name, STR("symbolizes_this_test")));
	assert_int_equal(symbol_table_find(&table, 0, lines), 0);
	assert_int_equal(symbol_table_find(&table, UINT64_MAX, lines), 0);
	symbol_table_close(&table);
}

static volatile int seen;

static inline __attribute__((always_inline)) int inlined_here(int n)
{
	seen = n * 3;
	return seen;
}

enum { DECLARED = __LINE__ + 1 };
static __attribute__((noinline)) int calls_inlined(int n)
{
	return inlined_here(n) + 1; /* two lines below its declaration */
}

/*
 * Every address of a small function: those of the inlined one have the line of the call. With ASan,
 * clang puts an instruction into the inlined one that still has the line where the outer one
 * begins.
 */
static void finds_inlined_functions_of_this_test(void **state)
{
	uint64_t start = linked_address((const void *)calls_inlined);
	struct symbol_line lines[SYMBOL_LINES_MAX];
	struct symbol_table table;
	size_t inlined = 0;
	struct err err;

	(void)state;
	assert_int_equal(calls_inlined(2), 7);
	if (!build("/proc/self/exe", &table, &err))
		fail_msg("%s", err.msg);
	for (uint64_t at = start; at < start + 512; at++) {
		size_t count = symbol_table_find(&table, at, lines);

		if (!count || !str_eq(lines[count - 1].system_name, STR("calls_inlined")))
			break;
		assert_int_equal(lines[count - 1].start_line, DECLARED);
		assert_true(str_ends_with(lines[0].file, STR("symbol_table_test.c")));
		if (count == 1)
			continue;
		assert_int_equal(count, 2);
		assert_true(str_eq(lines[0].system_name, STR("inlined_here")));
		assert_true(lines[0].line <= DECLARED + 1);
		assert_int_equal(lines[1].line, DECLARED + 2);
		inlined += lines[0].line && lines[0].line < DECLARED;
	}
	assert_true(inlined > 0);
	symbol_table_close(&table);
}

static void rejects_a_file_that_is_not_elf(void **state)
{
	AUTO_FD out = memfd_create("table", MFD_CLOEXEC), fd = open("/etc/passwd", O_RDONLY);
	struct symbol_table table;
	struct err err;

	(void)state;
	assert_false(symbol_build(&(struct symbol_build_options){ 0 }, fd, out, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_false(symbol_table_open(&table, fd, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_false(symbol_table_open(&table, out, &err));
}

static void a_build_ends_at_its_memory_limit(void **state)
{
	AUTO_FD out = memfd_create("table", MFD_CLOEXEC);
	AUTO_FD fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct err err;

	(void)state;
	assert_false(
		symbol_build(&(struct symbol_build_options){ .memory_max = 4096 }, fd, out, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

static void rejects_a_table_with_any_byte_changed_or_truncated(void **state)
{
	static struct truth truth;
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = memfd_create("table", MFD_CLOEXEC);
	struct symbol_writer writer;
	struct symbol_table table;
	uint32_t seed = 3;
	struct err err;

	(void)state;
	symbol_writer_init(&writer, &arena);
	truth_fill(&truth, &writer, &seed);
	assert_true(symbol_writer_write(&writer, fd, &err));

	off_t len = lseek(fd, 0, SEEK_END);

	assert_true(symbol_table_open(&table, fd, &err));
	symbol_table_close(&table);
	for (off_t at = 0; at < len; at += at < 200 ? 1 : 97) {
		uint8_t byte, other;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		other = byte ^ 0x10;
		assert_int_equal(pwrite(fd, &other, 1, at), 1);
		/* padding and reserved fields are not checked */
		if (symbol_table_open(&table, fd, &err)) {
			assert_int_equal(byte, 0);
			symbol_table_close(&table);
		} else {
			assert_int_equal(err.code, ERR_INVALID);
		}
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	for (off_t left = len - 1; left >= 0; left -= left < 200 ? 1 : 997) {
		assert_int_equal(ftruncate(fd, left), 0);
		assert_false(symbol_table_open(&table, fd, &err));
	}
}

static void sum_anew(char *bytes, size_t len)
{
	struct symbol_header header;
	uint64_t at = sizeof(header);

	memcpy(&header, bytes, sizeof(header));
	for (int part = 0; part < SYMBOL_PART_COUNT && at + header.sizes[part] <= len; part++) {
		header.hashes[part] = hash_64((str){ bytes + at, header.sizes[part] });
		at += (header.sizes[part] + 7) & ~(uint64_t)7;
	}
	header.checksum =
		hash_64((str){ (const char *)&header.row_count,
			       sizeof(header) - offsetof(struct symbol_header, row_count) });
	memcpy(bytes, &header, sizeof(header));
}

/* Changes each byte, with correct checksums. */
static void a_malicious_table_is_rejected_or_read_in_bounds(void **state)
{
	static const char flips[] = { 0x01, 0x40, '\xff' };
	AUTO_ARENA arena = { 0 };
	struct symbol_writer writer;
	static char bytes[4096];
	AUTO_FD fd = memfd_create("table", MFD_CLOEXEC);
	struct err err;

	(void)state;
	symbol_writer_init(&writer, &arena);
	for (uint32_t i = 0; i < 70; i++) { /* three blocks of rows */
		uint32_t function = symbol_writer_qualified(&writer, STR("f"),
							    i % 2 ? STR("app::f") : (str){ 0 }, i);
		uint32_t node = symbol_writer_node(&writer, (struct symbol_node){ function });

		symbol_writer_row(&writer, (struct symbol_row){ .address = 64 * (1 + (uint64_t)i),
								.node = node,
								.line = i });
	}
	assert_true(symbol_writer_write(&writer, fd, &err));

	ssize_t len = pread(fd, bytes, sizeof(bytes), 0);

	assert_true(len > 0 && len < (ssize_t)sizeof(bytes));
	for (size_t i = offsetof(struct symbol_header, row_count) * sizeof(flips);
	     i < (size_t)len * sizeof(flips); i++) {
		static char copy[sizeof(bytes)];
		struct symbol_line lines[SYMBOL_LINES_MAX];
		struct symbol_table table;

		memcpy(copy, bytes, (size_t)len);
		copy[i / sizeof(flips)] =
			(char)(copy[i / sizeof(flips)] ^ flips[i % sizeof(flips)]);
		sum_anew(copy, (size_t)len);
		assert_int_equal(pwrite(fd, copy, (size_t)len, 0), len);
		if (!symbol_table_open(&table, fd, &err)) {
			assert_int_equal(err.code, ERR_INVALID);
			continue;
		}
		for (uint64_t address = 0; address < 5000; address += 32)
			(void)symbol_table_find(&table, address, lines); /* for ASan */
		symbol_table_close(&table);
	}
}

static void truncates_a_long_name_and_reports_a_failed_write(void **state)
{
	static char name[SYMBOL_NAME_MAX + 100];
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = memfd_create("table", MFD_CLOEXEC);
	struct symbol_line lines[SYMBOL_LINES_MAX];
	struct symbol_writer writer;
	struct symbol_table table;
	struct err err;

	(void)state;
	memset(name, 'n', sizeof(name));
	symbol_writer_init(&writer, &arena);

	uint32_t function = symbol_writer_function(&writer, (str){ name, sizeof(name) }, 1);
	uint32_t node = symbol_writer_node(&writer, (struct symbol_node){ function });

	symbol_writer_row(&writer, (struct symbol_row){ .address = 16, .node = node });
	assert_true(symbol_writer_write(&writer, fd, &err));
	assert_true(symbol_table_open(&table, fd, &err));
	assert_int_equal(symbol_table_find(&table, 16, lines), 1);
	assert_int_equal(lines[0].system_name.len, SYMBOL_NAME_MAX);
	symbol_table_close(&table);

	AUTO_FD closed = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_false(symbol_writer_write(&writer, closed, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_false(symbol_table_open(&table, -1, &err));
	assert_int_equal(err.code, ERR_IO);
}

RUN_TESTS(TEST(finds_the_rows_that_were_written), TEST(symbolizes_this_test),
	  TEST(finds_inlined_functions_of_this_test), TEST(rejects_a_file_that_is_not_elf),
	  TEST(a_build_ends_at_its_memory_limit),
	  TEST(rejects_a_table_with_any_byte_changed_or_truncated),
	  TEST(a_malicious_table_is_rejected_or_read_in_bounds),
	  TEST(truncates_a_long_name_and_reports_a_failed_write))
