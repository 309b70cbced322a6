// SPDX-License-Identifier: Apache-2.0
/*
 * Each kind of entry of range lists, as in the DWARF standard.
 */
#include "dwarf/dwarf_ranges.h"
#include "support/test.h"

#include <stdio.h>

#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

/* .debug_addr: a header of 8 bytes, then 0x1000, 0x2000. */
static const str addresses = BYTES("\0\0\0\0\0\0\0\0"
				   "\x00\x10\0\0\0\0\0\0"
				   "\x00\x20\0\0\0\0\0\0");

static struct dwarf_file file;

static struct dwarf_unit unit_of(uint16_t version, str list)
{
	file = (struct dwarf_file){ 0 };
	file.sections[version >= 5 ? DWARF_RNGLISTS : DWARF_RANGES] = list;
	file.sections[DWARF_ADDR] = addresses;
	return (struct dwarf_unit){ .file = &file,
				    .version = version,
				    .address_size = 8,
				    .offset_size = 4,
				    .low_pc = 0x100,
				    .addr_base = 8 };
}

/* "start-end start-end", in hexadecimal. */
static const char *text_of(const struct dwarf_unit *unit, struct dwarf_value value)
{
	static char text[256];
	struct dwarf_ranges ranges = dwarf_ranges_of(unit, value);
	uint64_t start, end;
	size_t len = 0;

	text[0] = 0;
	while (dwarf_ranges_next(&ranges, &start, &end))
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%jx-%jx", len ? " " : "",
					(uintmax_t)start, (uintmax_t)end);
	return text;
}

static void reads_each_kind_of_entry_of_version_5(void **state)
{
	static const struct {
		str list;
		const char *says;
	} rows[] = {
		{ BYTES("\x04\x10\x20\x00"), "110-120" }, /* offset_pair */
		{ BYTES("\x04\x01\x02\x04\x03\x04\x00"), "101-102 103-104" },
		{ BYTES("\x01\x01\x04\x10\x20\x00"), "2010-2020" }, /* base_addressx */
		{ BYTES("\x02\x00\x01\x00"), "1000-2000" },         /* startx_endx */
		{ BYTES("\x03\x01\x80\x01\x00"), "2000-2080" },     /* startx_length */
		{ BYTES("\x05\x00\x50\0\0\0\0\0\0\x04\x01\x02\x00"), "5001-5002" },
		{ BYTES("\x06\x00\x30\0\0\0\0\0\0\x00\x31\0\0\0\0\0\0\x00"), "3000-3100" },
		{ BYTES("\x07\x00\x40\0\0\0\0\0\0\x10\x00"), "4000-4010" },
		{ BYTES("\x02\x00\x09\x04\x01\x02\x00"), "" }, /* no such address */
		{ BYTES("\x03\x09\x01\x04\x01\x02\x00"), "" },
		{ BYTES("\x01\x09\x04\x01\x02\x00"), "" },
		{ BYTES("\x63\x04\x01\x02\x00"), "" },        /* no such kind */
		{ BYTES("\x04\x10\x20\x04\x10"), "110-120" }, /* truncated */
		{ BYTES("\x04\x10\x20\x05\x10"), "110-120" },
		{ BYTES(""), "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct dwarf_unit unit = unit_of(5, rows[i].list);
		struct dwarf_value value = { .kind = DWARF_OFFSET };

		if (strcmp(text_of(&unit, value), rows[i].says) != 0)
			fail_msg("row %zu: %s", i, text_of(&unit, value));
	}
}

static void reads_lists_before_version_5(void **state)
{
#define WORD(low, high) low high "\0\0\0\0\0\0"
#define ONES            "\xff\xff\xff\xff\xff\xff\xff\xff"
	static const struct {
		str list;
		const char *says;
	} rows[] = {
		{ BYTES(WORD("\x10", "\0") WORD("\x20", "\0") WORD("\0", "\0") WORD("\0", "\0")),
		  "110-120" },
		{ BYTES(ONES WORD("\0", "\x70") WORD("\x10", "\0") WORD("\x20", "\0")
				WORD("\0", "\0") WORD("\0", "\0")),
		  "7010-7020" },
		{ BYTES(WORD("\x10", "\0") "\x20"), "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct dwarf_unit unit = unit_of(4, rows[i].list);
		struct dwarf_value number = { .kind = DWARF_NUMBER }; /* as in version 3 */

		assert_string_equal(text_of(&unit, number), rows[i].says);
	}
}

static void finds_a_list_by_its_index(void **state)
{
	/* two 4-byte offsets at the base, 2; then their lists */
	struct dwarf_unit unit = unit_of(5, (str)BYTES("zz\x08\0\0\0\x0c\0\0\0"
						       "\x04\x01\x02\x00"
						       "\x04\x03\x04\x00"));
	struct dwarf_value value = { .kind = DWARF_RNGLIST_INDEX };

	(void)state;
	unit.rnglists_base = 2;
	assert_string_equal(text_of(&unit, value), "101-102");
	value.number = 1;
	assert_string_equal(text_of(&unit, value), "103-104");
	value.number = 99;
	assert_string_equal(text_of(&unit, value), "");
	value.number = UINT64_MAX;
	assert_string_equal(text_of(&unit, value), "");
	value.kind = DWARF_STRING; /* not a reference to a list */
	assert_string_equal(text_of(&unit, value), "");
}

RUN_TESTS(TEST(reads_each_kind_of_entry_of_version_5), TEST(reads_lists_before_version_5),
	  TEST(finds_a_list_by_its_index))
