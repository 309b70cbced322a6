// SPDX-License-Identifier: Apache-2.0
/*
 * The searches of the walk in the kernel, against those of user space and against looking at all
 * there is.
 */
#include "bpf/unwind_find.h"
#include "support/test.h"
#include "unwind/unwind_build.h"
#include "unwind/unwind_file.h"
#include "unwind/unwind_writer_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LIST_PAGE = 10, TABLE_PAGE = 100, RULES = 600 };

/* Of the table that a test looks at, and of its list of mappings. */
static const uint8_t *table_pages;
static uint32_t table_page_count;
static struct unwind_mapping list[UNWIND_MAPPINGS_MAX] __attribute__((aligned(4096)));
static struct unwind walker;

static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from)
{
	(void)walk, (void)to, (void)bytes, (void)from;
	fail_msg("a search reads no stack");
	return false;
}

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	(void)walk;
	if (number >= TABLE_PAGE && number < TABLE_PAGE + table_page_count)
		return table_pages + (number - TABLE_PAGE) * UNWIND_PAGE_BYTES;
	if (number >= LIST_PAGE && number < LIST_PAGE + sizeof(list) / UNWIND_PAGE_BYTES)
		return (const uint8_t *)list + (number - LIST_PAGE) * UNWIND_PAGE_BYTES;
	return NULL;
}

static void begin(uint32_t mappings)
{
	(void)unwind_read_user; /* no search calls it */
	memset(&walker, 0, sizeof(walker));
	walker.list = LIST_PAGE * UNWIND_PAGE_BYTES;
	walker.list_count = mappings;
	walker.mapping.table = TABLE_PAGE;
}

static void agree_at(const struct unwind_file *file, uint64_t address)
{
	struct unwind_rule ours, theirs = { .cfa = UNWIND_CFA_NONE };

	(void)!unwind_file_find(file, address, &theirs);
	assert_true(unwind_search_table(&walker, address, &ours));
	assert_memory_equal(&ours, &theirs, sizeof(ours));
}

/* At each row's first and last address, and around the table. Returns the number of rows. */
static uint64_t agree_everywhere(const struct unwind_file *file)
{
	uint64_t address = file->header->base, next, rows = 0;

	begin(0);
	table_pages = file->pages;
	table_page_count = file->page_count;
	agree_at(file, 0);
	agree_at(file, address - 1);
	agree_at(file, UINT64_MAX);
	agree_at(file, address + file->header->bytes);
	for (; unwind_file_next(file, address, &next); address = next, rows++) {
		agree_at(file, address);
		agree_at(file, next - 1);
	}
	return rows;
}

static void finds_each_row_of_a_real_library(void **state)
{
	const char *const paths[] = { "/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6",
				      "/lib/aarch64-linux-gnu/libc.so.6" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		AUTO_FD elf = open(paths[i], O_RDONLY | O_CLOEXEC);
		AUTO_FD table = memfd_create("table", MFD_CLOEXEC);
		struct unwind_build_result result;
		struct unwind_file file;
		struct err err;

		if (elf < 0)
			continue; /* another machine's */
		assert_true(unwind_build(&(struct unwind_build_options){ 0 }, elf, table, &result,
					 &err));
		assert_true(unwind_file_open(&file, table, &err));
		assert_in_range(agree_everywhere(&file), 100, result.rows);
		unwind_file_close(&file);
	}
}

/* The rows need index pages below the root and rules of two bytes. */
static void finds_each_row_of_a_large_table(void **state)
{
	enum { ROWS = 200000, STRIDE = 3 };
	AUTO_ARENA arena = { 0 };
	struct unwind_rows rows;
	struct unwind_rule found;
	struct err err;
	str pages;

	(void)state;
	unwind_rows_init(&rows, &arena, 0x1000);
	unwind_rows_begin(&rows, 0);
	for (uint32_t i = 0; i < ROWS; i++)
		unwind_rows_add(&rows, i * STRIDE,
				&(struct unwind_rule){ .cfa = UNWIND_CFA_REGISTER,
						       .cfa_offset = (int32_t)(i % RULES) });
	unwind_rows_end(&rows, ROWS * STRIDE);
	assert_true(unwind_pages_write(&rows, &arena, &pages, &err));
	begin(0);
	table_pages = (const uint8_t *)pages.ptr;
	table_page_count = (uint32_t)(pages.len / UNWIND_PAGE_BYTES);

	assert_int_equal(((const struct unwind_header *)(const void *)table_pages)->depth, 2);
	for (uint32_t i = 0; i < ROWS * STRIDE; i++) {
		assert_true(unwind_search_table(&walker, 0x1000 + i, &found));
		assert_int_equal(found.cfa_offset, i / STRIDE % RULES);
	}
}

/* The agent may remove a page while the kernel searches it. */
static void finds_nothing_where_a_page_is_missing(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct unwind_rows rows;
	struct unwind_rule found;
	size_t missing = 0;
	struct err err;
	str pages;

	(void)state;
	unwind_rows_init(&rows, &arena, 0);
	unwind_rows_begin(&rows, 0);
	for (uint32_t i = 0; i < 5000; i++)
		unwind_rows_add(&rows, i,
				&(struct unwind_rule){ .cfa = UNWIND_CFA_REGISTER,
						       .cfa_offset = (int32_t)(i % RULES) });
	unwind_rows_end(&rows, 5000);
	assert_true(unwind_pages_write(&rows, &arena, &pages, &err));
	begin(0);
	table_pages = (const uint8_t *)pages.ptr;
	for (table_page_count = 0; table_page_count <= pages.len / UNWIND_PAGE_BYTES;
	     table_page_count++)
		if (unwind_search_table(&walker, 4999, &found))
			assert_int_equal(found.cfa_offset, 4999 % RULES);
		else
			missing++;
	assert_in_range(missing, 2, pages.len / UNWIND_PAGE_BYTES - 1);
}

static const struct unwind_mapping *look_at_all(uint32_t count, uint64_t address)
{
	for (uint32_t i = 0; i < count; i++)
		if (address >= list[i].start && address < list[i].end)
			return &list[i];
	return NULL;
}

static void agree_on_mapping(uint32_t count, uint64_t address)
{
	const struct unwind_mapping *mapping = look_at_all(count, address);

	assert_int_equal(unwind_find_mapping(&walker, address), mapping != NULL);
	if (mapping)
		assert_memory_equal(&walker.mapping, mapping, sizeof(*mapping));
}

/* Also where the list goes on in another page, and after any other mapping. */
static void finds_each_mapping_of_a_list_of_any_length(void **state)
{
	const uint32_t counts[] = { 0, 1, 2, 3, 127, 128, 129, 1000, UNWIND_MAPPINGS_MAX };

	(void)state;
	srandom(1);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		for (uint32_t k = 0; k < counts[i]; k++)
			list[k] = (struct unwind_mapping){ .start = 0x1000 * (2 * (uint64_t)k + 1),
							   .end = 0x1000 * (2 * (uint64_t)k + 2) -
								  0x800 * (k % 2),
							   .table = k + 1 };
		begin(counts[i]);
		for (uint32_t k = 0; k < 2000; k++) {
			uint64_t start = 0x1000 * (uint64_t)(random() % (2 * (long)counts[i] + 3));

			agree_on_mapping(counts[i], start);
			agree_on_mapping(counts[i], start + 0x7ff);
			agree_on_mapping(counts[i], start + 0x800);
			agree_on_mapping(counts[i], start - 1);
		}
		agree_on_mapping(counts[i], UINT64_MAX);
	}
}

static void finds_no_mapping_where_the_list_is_missing(void **state)
{
	(void)state;
	list[0] = (struct unwind_mapping){ .start = 0x1000, .end = 0x2000 };
	begin(1);
	walker.list = UNWIND_PAGE_BYTES;
	assert_false(unwind_find_mapping(&walker, 0x1000));
	begin(300);
	walker.list = (LIST_PAGE + sizeof(list) / UNWIND_PAGE_BYTES - 1) * UNWIND_PAGE_BYTES;
	assert_false(unwind_find_mapping(&walker, UINT64_MAX));
}

RUN_TESTS(TEST(finds_each_row_of_a_real_library), TEST(finds_each_row_of_a_large_table),
	  TEST(finds_nothing_where_a_page_is_missing),
	  TEST(finds_each_mapping_of_a_list_of_any_length),
	  TEST(finds_no_mapping_where_the_list_is_missing))
