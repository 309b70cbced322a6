// SPDX-License-Identifier: Apache-2.0
/*
 * Headers of compressed sections, as the ELF standard defines them. The contents that zlib and zstd
 * make are in symbol_build_test.c.
 */
#include "dwarf/dwarf_inflate.h"
#include "support/test.h"

#include <elf.h>

enum { MAX = 1000 };

/* ERR_NONE: it was decompressed, or is not compressed. */
static enum err_code inflate(const char *header, size_t len, uint64_t flags, str *ret_contents)
{
	AUTO_ARENA arena = { 0 };
	struct elf_section section = { .name = STR(".debug_info"), .flags = flags };
	str bytes = { header, len };
	struct err err = { 0 };

	if (dwarf_inflate(&section, false, bytes, MAX, &arena, ret_contents, &err))
		return ERR_NONE;
	assert_ptr_equal(ret_contents->ptr, header);
	return err.code;
}

static void a_section_that_is_not_compressed_is_borrowed(void **state)
{
	str contents;

	(void)state;
	assert_int_equal(inflate("plain", 5, 0, &contents), ERR_NONE);
	assert_true(str_eq(contents, STR("plain")));
}

static void what_cannot_be_decompressed_is_an_error(void **state)
{
	static const char unknown[] = "\7\0\0\0\5\0\0\0\1\0\0\0hello";
	static const char corrupt[] = "\1\0\0\0\5\0\0\0\1\0\0\0hello";
	static const char large[] = "\1\0\0\0\xe9\3\0\0\1\0\0\0hello"; /* 1001 bytes */
	str contents;

	(void)state;
	assert_int_equal(inflate(unknown, sizeof(unknown) - 1, SHF_COMPRESSED, &contents),
			 ERR_INVALID);
	assert_int_equal(inflate(corrupt, sizeof(corrupt) - 1, SHF_COMPRESSED, &contents),
			 ERR_INVALID);
	assert_int_equal(inflate(large, sizeof(large) - 1, SHF_COMPRESSED, &contents), ERR_LIMIT);
}

RUN_TESTS(TEST(a_section_that_is_not_compressed_is_borrowed),
	  TEST(what_cannot_be_decompressed_is_an_error))
