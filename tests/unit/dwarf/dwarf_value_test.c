// SPDX-License-Identifier: Apache-2.0
/*
 * Values of each form, as in the DWARF standard.
 */
#include "dwarf/dwarf_value.h"
#include "support/test.h"

#include <dwarf.h>

#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

static struct dwarf_file alt = { .sections[DWARF_STR] = BYTES("\0moved") };
static struct dwarf_file file = {
	.sections = {
		[DWARF_STR] = BYTES("\0one\0two"),
		[DWARF_LINE_STR] = BYTES("\0line"),
		[DWARF_STR_OFFSETS] = BYTES("\0\0\0\0\1\0\0\0\5\0\0\0"),
		[DWARF_ADDR] = BYTES("\0\x10\0\0\0\0\0\0"),
	},
	.alt = &alt,
};

static struct dwarf_unit unit_of_version(uint16_t version)
{
	return (struct dwarf_unit){ .file = &file,
				    .start = 0x100,
				    .version = version,
				    .address_size = 8,
				    .offset_size = 4,
				    .str_offsets_base = 4 };
}

static struct dwarf_value read_as(uint16_t form, str bytes, uint16_t version, size_t *ret_left)
{
	struct dwarf_unit unit = unit_of_version(version);
	struct dwarf_attribute attribute = { .form = form, .implicit = -3 };
	struct reader r = reader_of(bytes);
	struct dwarf_value value = dwarf_value_read(&r, &unit, &attribute);

	*ret_left = r.failed ? SIZE_MAX : reader_left(&r);
	return value;
}

static void reads_numbers_of_each_form_and_no_byte_more(void **state)
{
	static const struct {
		uint16_t form;
		str bytes;
		uint64_t number;
	} rows[] = {
		{ DW_FORM_data1, BYTES("\xfe"), 0xfe },
		{ DW_FORM_data2, BYTES("\1\2"), 0x201 },
		{ DW_FORM_data4, BYTES("\1\2\3\4"), 0x4030201 },
		{ DW_FORM_data8, BYTES("\1\0\0\0\0\0\0\x80"), 0x8000000000000001 },
		{ DW_FORM_data16, BYTES("0123456789abcdef"), 0 },
		{ DW_FORM_udata, BYTES("\x80\x01"), 0x80 },
		{ DW_FORM_sdata, BYTES("\x7f"), UINT64_MAX },
		{ DW_FORM_sdata, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
		  UINT64_MAX }, /* not the shortest encoding */
		{ DW_FORM_addr, BYTES("\1\0\0\0\0\0\0\0"), 1 },
		{ DW_FORM_sec_offset, BYTES("\7\0\0\0"), 7 },
		{ DW_FORM_strx3, BYTES("\1\2\3"), 0x30201 },
		{ DW_FORM_addrx1, BYTES("\5"), 5 },
		{ DW_FORM_ref4, BYTES("\5\0\0\0"), 0x105 }, /* relative to the unit */
		{ DW_FORM_ref_udata, BYTES("\5"), 0x105 },
		{ DW_FORM_ref_addr, BYTES("\5\0\0\0"), 5 }, /* relative to the section */
		{ DW_FORM_GNU_ref_alt, BYTES("\5\0\0\0"), 5 },
		{ DW_FORM_GNU_strp_alt, BYTES("\1\0\0\0"), 1 },
		{ DW_FORM_GNU_str_index, BYTES("\2"), 2 },
		{ DW_FORM_GNU_addr_index, BYTES("\3"), 3 },
		{ DW_FORM_flag_present, BYTES(""), 1 },
		{ DW_FORM_implicit_const, BYTES(""), (uint64_t)-3 },
		{ DW_FORM_indirect, BYTES("\x0b\x09"), 9 }, /* data1 */
		{ DW_FORM_block1, BYTES("\2zz"), 0 },
		{ DW_FORM_block2, BYTES("\2\0zz"), 0 },
		{ DW_FORM_exprloc, BYTES("\2zz"), 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t left, more;
		struct dwarf_value value = read_as(rows[i].form, rows[i].bytes, 5, &left);

		if (left || value.number != rows[i].number)
			fail_msg("form %#x: %jx, %zu left", rows[i].form, (uintmax_t)value.number,
				 left);
		if (!rows[i].bytes.len)
			continue;
		read_as(rows[i].form, (str){ rows[i].bytes.ptr, rows[i].bytes.len - 1 }, 5, &more);
		assert_int_equal(more, SIZE_MAX); /* truncated */
	}
}

static void version_2_has_references_as_wide_as_addresses(void **state)
{
	size_t left;

	(void)state;
	read_as(DW_FORM_ref_addr, (str)BYTES("\1\0\0\0\0\0\0\0"), 2, &left);
	assert_int_equal(left, 0);
}

static void an_unknown_form_fails(void **state)
{
	static const uint16_t forms[] = { 0, 0x02, 0x7f, 0x1fff };
	size_t left;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		read_as(forms[i], (str)BYTES("12345678"), 5, &left);
		assert_int_equal(left, SIZE_MAX);
	}
	read_as(DW_FORM_indirect, (str)BYTES("\x21z"), 5,
		&left); /* DW_FORM_implicit_const is not allowed */
	assert_int_equal(left, SIZE_MAX);
}

static void finds_strings_in_each_section(void **state)
{
	static const struct {
		uint16_t form;
		str bytes;
		const char *text;
	} rows[] = {
		{ DW_FORM_string, BYTES("here\0"), "here" },
		{ DW_FORM_strp, BYTES("\1\0\0\0"), "one" },
		{ DW_FORM_line_strp, BYTES("\1\0\0\0"), "" }, /* no NUL */
		{ DW_FORM_strx1, BYTES("\1"), "" },           /* "two" has no NUL either */
		{ DW_FORM_strx1, BYTES("\0"), "one" },
		{ DW_FORM_strx1, BYTES("\x63"), "" },
		{ DW_FORM_GNU_strp_alt, BYTES("\1\0\0\0"), "" },
		{ DW_FORM_strp, BYTES("\x63\0\0\0"), "" },
		{ DW_FORM_data1, BYTES("\1"), "" },
	};
	struct dwarf_unit unit = unit_of_version(5);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t left;
		struct dwarf_value value = read_as(rows[i].form, rows[i].bytes, 5, &left);

		assert_true(str_eq(dwarf_value_str(&unit, value), str_from(rows[i].text)));
	}
	assert_int_equal(dwarf_value_str(&unit, (struct dwarf_value){ .kind = DWARF_STRING_INDEX,
								      .number = UINT64_MAX })
				 .len,
			 0);
}

static void an_address_is_inline_or_an_index(void **state)
{
	struct dwarf_unit unit = unit_of_version(5);
	uint64_t address;

	(void)state;
	assert_true(dwarf_value_address(&unit, (struct dwarf_value){ DWARF_ADDRESS, 7, { 0 } },
					&address));
	assert_int_equal(address, 7);
	assert_true(dwarf_value_address(&unit, (struct dwarf_value){ .kind = DWARF_ADDRESS_INDEX },
					&address));
	assert_int_equal(address, 0x1000);
	assert_false(dwarf_value_address(
		&unit, (struct dwarf_value){ .kind = DWARF_ADDRESS_INDEX, .number = 1 }, &address));
	assert_false(
		dwarf_value_address(&unit, (struct dwarf_value){ .kind = DWARF_NUMBER }, &address));
}

static void words_have_the_width_of_their_unit(void **state)
{
	static const struct {
		uint8_t size;
		uint64_t word;
	} rows[] = { { 1, 1 }, { 2, 0x201 }, { 4, 0x4030201 }, { 8, 0x807060504030201 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct reader r = reader_of(STR("\1\2\3\4\5\6\7\x8"));

		assert_int_equal(dwarf_word(&r, rows[i].size), rows[i].word);
	}

	struct reader r = reader_of(STR("\1\2\3"));

	assert_int_equal(dwarf_word(&r, 3), 0);
	assert_true(r.failed);
}

RUN_TESTS(TEST(reads_numbers_of_each_form_and_no_byte_more),
	  TEST(version_2_has_references_as_wide_as_addresses), TEST(an_unknown_form_fails),
	  TEST(finds_strings_in_each_section), TEST(an_address_is_inline_or_an_index),
	  TEST(words_have_the_width_of_their_unit))
