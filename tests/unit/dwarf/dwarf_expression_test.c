// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_expression.h"
#include "dwarf/dwarf_pointer.h"
#include "support/test.h"

static void evaluates_sums_and_dereferences(void **state)
{
	const struct {
		str bytes;
		struct dwarf_term term;
	} cases[] = {
		{ STR("\x77\x08"), { DWARF_TERM_REGISTER, 7, 8, 0 } },
		{ STR("\x76\x58\x06"), { DWARF_TERM_DEREF, 6, -40, 0 } },
		{ STR("\x77\x28\x06\x23\x08"), { DWARF_TERM_DEREF, 7, 40, 8 } },
		{ STR("\x77\x08\x38\x22"), { DWARF_TERM_REGISTER, 7, 16, 0 } },
		{ STR("\x38\x77\x08\x22"), { DWARF_TERM_REGISTER, 7, 16, 0 } },
		{ STR("\x77\x08\x33\x1c\x96"), { DWARF_TERM_REGISTER, 7, 5, 0 } },
		{ STR("\x08\xff"), { DWARF_TERM_NUMBER, 0, 255, 0 } },
		{ STR("\x09\xff"), { DWARF_TERM_NUMBER, 0, -1, 0 } },
		{ STR("\x0a\xff\xff"), { DWARF_TERM_NUMBER, 0, 65535, 0 } },
		{ STR("\x0b\xff\xff"), { DWARF_TERM_NUMBER, 0, -1, 0 } },
		{ STR("\x0c\xff\xff\xff\xff"), { DWARF_TERM_NUMBER, 0, UINT32_MAX, 0 } },
		{ STR("\x0d\xff\xff\xff\xff"), { DWARF_TERM_NUMBER, 0, -1, 0 } },
		{ STR("\x0e\x01\0\0\0\0\0\0\x40"), { DWARF_TERM_NUMBER, 0, (1LL << 62) + 1, 0 } },
		{ STR("\x10\x80\x01"), { DWARF_TERM_NUMBER, 0, 128, 0 } },
		{ STR("\x11\x7f"), { DWARF_TERM_NUMBER, 0, -1, 0 } },
		{ STR("\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22"), { DWARF_TERM_PLT, 0, 11, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct dwarf_term term = dwarf_expression_read(cases[i].bytes);

		assert_int_equal(term.kind, cases[i].term.kind);
		assert_int_equal(term.register_number, cases[i].term.register_number);
		assert_int_equal(term.offset, cases[i].term.offset);
		assert_int_equal(term.second, cases[i].term.second);
	}
}

static void other_expressions_are_unknown(void **state)
{
	const str cases[] = {
		{ 0 },                                       /* empty */
		STR("\x77"),                                 /* truncated */
		STR("\x06"),                                 /* dereference of an empty stack */
		STR("\x77\0\x06\x06"),                       /* two dereferences */
		STR("\x77\0\x76\0\x22"),                     /* sum of two registers */
		STR("\x38\x77\0\x1c"),                       /* minus a register */
		STR("\x77\0\x1e"),                           /* an unsupported operation */
		STR("\x30\x30\x30\x30\x30\x30\x30\x30\x30"), /* too many values */
		STR("\x0e\xff\xff\xff\xff\xff\xff\xff\x7f\x23\x01"), /* a number that there is not
								      */
		STR("\x77\x08\x80\0\x3f\x1a\x6b\x2a\x33\x24\x22"),   /* like a PLT's */
		STR("\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x23"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(dwarf_expression_read(cases[i]).kind, DWARF_TERM_UNKNOWN);
}

static void decodes_pointers_in_each_encoding(void **state)
{
	const struct {
		uint8_t encoding;
		str bytes;
		uint64_t address;
	} cases[] = {
		{ 0x00, STR("\x01\0\0\0\0\0\0\x80"), 0x8000000000000001 },
		{ 0x01, STR("\x80\x01"), 128 },
		{ 0x02, STR("\xff\xff"), 65535 },
		{ 0x03, STR("\xff\xff\xff\xff"), UINT32_MAX },
		{ 0x04, STR("\x01\0\0\0\0\0\0\0"), 1 },
		{ 0x09, STR("\x7f"), UINT64_MAX },
		{ 0x0a, STR("\xff\xff"), UINT64_MAX },
		{ 0x0b, STR("\xfe\xff\xff\xff"), UINT64_MAX - 1 },
		{ 0x0c, STR("\xff\xff\xff\xff\xff\xff\xff\xff"), UINT64_MAX },
		{ 0x1b, STR("\xff\xff\xff\xff"), 0x4fff }, /* pc-relative */
		{ 0x10, STR("\x10\0\0\0\0\0\0\0"), 0x5010 },
	};
	const uint8_t others[] = { 0x9b, 0x20, 0x30, 0x40, 0x50, 0x05, 0x0f, 0xff };
	uint64_t address;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct dwarf_frame_section section = { cases[i].bytes, 0x5000, true, 8 };
		struct reader r = reader_of(cases[i].bytes);

		assert_true(dwarf_pointer_read(&r, &section, cases[i].encoding, &address));
		assert_int_equal(address, cases[i].address);
		assert_int_equal(reader_left(&r), 0);
		r = reader_of((str){ cases[i].bytes.ptr, 0 });
		assert_false(dwarf_pointer_read(&r, &section, cases[i].encoding, &address));
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct dwarf_frame_section section = { STR("\0\0\0\0\0\0\0\0"), 0, true, 8 };
		struct reader r = reader_of(section.bytes);

		assert_false(dwarf_pointer_read(&r, &section, others[i], &address));
	}
}

RUN_TESTS(TEST(evaluates_sums_and_dereferences), TEST(other_expressions_are_unknown),
	  TEST(decodes_pointers_in_each_encoding))
