// SPDX-License-Identifier: Apache-2.0
#include "support/unwind_table.h"
#include "unwind/unwind_file.h"

/* A table of depth 2 with every feature: two index pages, wide blocks, gaps. */
static str table_make(struct arena *arena, uint32_t blocks)
{
	struct unwind_rows rows;

	unwind_rows_init(&rows, arena, 0x1000);
	unwind_rows_begin(&rows, 0);
	for (uint32_t i = 0; i < blocks; i++)
		for (uint32_t k = 0; k < 3; k++) {
			struct unwind_rule rule = unwind_table_rule((int32_t)(i + k) % 600);

			unwind_rows_add(&rows, (i << 16) + k * 8, &rule);
		}
	unwind_rows_end(&rows, blocks << 16);
	return unwind_table_pages(&rows, arena);
}

static void rejects_other_files(void **state)
{
	AUTO_ARENA arena = { 0 };
	str pages = table_make(&arena, 4);
	struct unwind_file file = { 0 };
	struct err err = { 0 };

	(void)state;
	for (size_t cut = 0; cut < sizeof(struct unwind_file_header) + pages.len; cut += 31) {
		AUTO_FD fd = unwind_table_fd(pages);

		assert_int_equal(ftruncate(fd, (off_t)cut), 0);
		assert_false(unwind_file_open(&file, fd, &err));
		assert_int_equal(err.code, ERR_INVALID);
	}
	for (size_t at = 0; at < offsetof(struct unwind_file_header, reserved); at++) {
		AUTO_FD fd = unwind_table_fd(pages);
		char byte;

		assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		assert_false(unwind_file_open(&file, fd, &err));
	}
}

static void rejects_a_corrupt_byte_by_its_checksum(void **state)
{
	AUTO_ARENA arena = { 0 };
	str pages = table_make(&arena, 4);
	struct unwind_file file = { 0 };
	struct err err = { 0 };

	(void)state;
	for (size_t at = 0; at < pages.len; at += 257) {
		AUTO_FD fd = unwind_table_fd(pages);
		off_t place = (off_t)(sizeof(struct unwind_file_header) + at);
		char byte;

		assert_int_equal(pread(fd, &byte, 1, place), 1);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, place), 1);
		assert_false(unwind_file_open(&file, fd, &err));
		assert_non_null(strstr(err.msg, "checksum"));
	}
}

/* With a correct checksum: the contents are verified as well. */
static void rejects_offsets_out_of_bounds(void **state)
{
	AUTO_ARENA arena = { 0 };
	str pages = table_make(&arena, 1000);
	struct unwind_header *header = (struct unwind_header *)(void *)(uintptr_t)pages.ptr;
	uint32_t *header_fields[] = {
		&header->page_count, &header->row_count, &header->block_count, &header->root_count,
		&header->depth,      &header->rules_at,  &header->rule_count,  &header->bytes,
	};
	struct unwind_entry *root = (struct unwind_entry *)(void *)(header + 1);
	struct unwind_entry *index =
		(struct unwind_entry *)(void *)(uintptr_t)(pages.ptr + UNWIND_PAGE_BYTES);
	uint32_t *entry_fields[] = {
		&root[0].address,  &root[1].address,  &root[0].place,    &root[1].place,
		&index[0].address, &index[7].address, &index[600].place, &index[3].place,
	};
	const uint32_t values[] = { 0, 1, 2, 3, 4095, 4097, 1 << 20, INT32_MAX, UINT32_MAX };
	struct unwind_file file = { 0 };

	(void)state;
	assert_true(unwind_table_open(&file, pages));
	assert_int_equal(file.header->depth, 2);
	unwind_file_close(&file);
	for (size_t i = 0; i < ARRAY_LEN(header_fields) + ARRAY_LEN(entry_fields); i++)
		for (size_t k = 0; k < ARRAY_LEN(values); k++) {
			uint32_t *field = i < ARRAY_LEN(header_fields)
						  ? header_fields[i]
						  : entry_fields[i - ARRAY_LEN(header_fields)];
			uint32_t before = *field;

			if (before == values[k])
				continue;
			*field = values[k];
			/* A larger end, or fewer rules, may still be valid. */
			if (unwind_table_open(&file, pages)) {
				assert_true(field == &header->bytes);
				unwind_file_close(&file);
			}
			*field = before;
		}
}

static void rejects_malformed_blocks(void **state)
{
	AUTO_ARENA arena = { 0 };
	str pages = table_make(&arena, 4);
	const struct unwind_entry *entries =
		(const struct unwind_entry *)(const void *)(pages.ptr +
							    sizeof(struct unwind_header));
	uint16_t *block = (uint16_t *)(void *)(uintptr_t)(pages.ptr + (entries[1].place & ~1U));
	const struct {
		size_t word;
		uint16_t value;
	} cases[] = {
		{ 0, 0 },          { 0, 257 }, { 0, UINT16_MAX }, /* its count */
		{ 1, 1 },                                         /* its first address */
		{ 2, 0 },          { 2, 16 },  { 3, 8 }, /* the other addresses do not ascend */
		{ 4, UINT16_MAX },                       /* its rules */
	};
	struct unwind_file file = { 0 };

	(void)state;
	assert_int_equal(block[0], 3);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint16_t before = block[cases[i].word];

		block[cases[i].word] = cases[i].value;
		assert_false(unwind_table_open(&file, pages));
		block[cases[i].word] = before;
	}
	assert_true(unwind_table_open(&file, pages));
	unwind_file_close(&file);
}

static void rejects_unknown_rules(void **state)
{
	AUTO_ARENA arena = { 0 };
	str pages = table_make(&arena, 4);
	const struct unwind_header *header = (const struct unwind_header *)(const void *)pages.ptr;
	struct unwind_rule *rule =
		(struct unwind_rule *)(void *)(uintptr_t)(pages.ptr + header->rules_at);
	uint8_t *kinds[] = { &rule->cfa, &rule->frame_pointer, &rule->return_address };
	struct unwind_file file = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		uint8_t before = *kinds[i];

		*kinds[i] = UINT8_MAX;
		assert_false(unwind_table_open(&file, pages));
		*kinds[i] = before;
	}
}

RUN_TESTS(TEST(rejects_other_files), TEST(rejects_a_corrupt_byte_by_its_checksum),
	  TEST(rejects_offsets_out_of_bounds), TEST(rejects_malformed_blocks),
	  TEST(rejects_unknown_rules))
