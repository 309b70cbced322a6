// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_value.h"

#include <dwarf.h>

uint64_t dwarf_word(struct reader *r, uint8_t size)
{
	switch (size) {
	case 1:
		return reader_u8(r);
	case 2:
		return reader_u16(r);
	case 4:
		return reader_u32(r);
	case 8:
		return reader_u64(r);
	default:
		reader_fail(r);
		return 0;
	}
}

int64_t dwarf_sleb(struct reader *r)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = reader_u8(r);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !r->failed);
	if (shift < 64 && (byte & 0x40))
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

static uint64_t u24(struct reader *r)
{
	uint64_t low = reader_u16(r);

	return low | (uint64_t)reader_u8(r) << 16;
}

str dwarf_text(struct reader *r)
{
	const char *end = r->rest.len ? memchr(r->rest.ptr, 0, r->rest.len) : NULL;

	if (!end) {
		reader_fail(r);
		return (str){ 0 };
	}

	str bytes = reader_bytes(r, (size_t)(end - r->rest.ptr));

	reader_u8(r);
	return bytes;
}

/* How the bytes of a form are read, and the kind of the value. */
enum shape { NONE, BYTES, ADDRESS_SIZE, OFFSET_SIZE, LEB, SIGNED_LEB, BLOCK_LEB, BLOCK, TEXT };

static const struct form {
	enum shape shape;
	uint8_t len; /* of BYTES, or of a BLOCK's length field */
	enum dwarf_kind kind;
} forms[] = {
	[DW_FORM_addr] = { ADDRESS_SIZE, 0, DWARF_ADDRESS },
	[DW_FORM_block2] = { BLOCK, 2, DWARF_NOTHING },
	[DW_FORM_block4] = { BLOCK, 4, DWARF_NOTHING },
	[DW_FORM_data2] = { BYTES, 2, DWARF_NUMBER },
	[DW_FORM_data4] = { BYTES, 4, DWARF_NUMBER },
	[DW_FORM_data8] = { BYTES, 8, DWARF_NUMBER },
	[DW_FORM_string] = { TEXT, 0, DWARF_STRING },
	[DW_FORM_block] = { BLOCK_LEB, 0, DWARF_NOTHING },
	[DW_FORM_block1] = { BLOCK, 1, DWARF_NOTHING },
	[DW_FORM_data1] = { BYTES, 1, DWARF_NUMBER },
	[DW_FORM_flag] = { BYTES, 1, DWARF_NUMBER },
	[DW_FORM_sdata] = { SIGNED_LEB, 0, DWARF_NUMBER },
	[DW_FORM_strp] = { OFFSET_SIZE, 0, DWARF_STRING_OFFSET },
	[DW_FORM_udata] = { LEB, 0, DWARF_NUMBER },
	[DW_FORM_ref_addr] = { OFFSET_SIZE, 0, DWARF_REFERENCE },
	[DW_FORM_ref1] = { BYTES, 1, DWARF_REFERENCE },
	[DW_FORM_ref2] = { BYTES, 2, DWARF_REFERENCE },
	[DW_FORM_ref4] = { BYTES, 4, DWARF_REFERENCE },
	[DW_FORM_ref8] = { BYTES, 8, DWARF_REFERENCE },
	[DW_FORM_ref_udata] = { LEB, 0, DWARF_REFERENCE },
	[DW_FORM_sec_offset] = { OFFSET_SIZE, 0, DWARF_OFFSET },
	[DW_FORM_exprloc] = { BLOCK_LEB, 0, DWARF_NOTHING },
	[DW_FORM_flag_present] = { BYTES, 0, DWARF_NUMBER },
	[DW_FORM_strx] = { LEB, 0, DWARF_STRING_INDEX },
	[DW_FORM_addrx] = { LEB, 0, DWARF_ADDRESS_INDEX },
	[DW_FORM_ref_sup4] = { BYTES, 4, DWARF_REFERENCE_ALT },
	[DW_FORM_strp_sup] = { OFFSET_SIZE, 0, DWARF_STRING_ALT },
	[DW_FORM_data16] = { BYTES, 16, DWARF_NOTHING },
	[DW_FORM_line_strp] = { OFFSET_SIZE, 0, DWARF_STRING_LINE },
	[DW_FORM_ref_sig8] = { BYTES, 8, DWARF_NOTHING },
	[DW_FORM_implicit_const] = { BYTES, 0, DWARF_NUMBER },
	[DW_FORM_loclistx] = { LEB, 0, DWARF_NOTHING },
	[DW_FORM_rnglistx] = { LEB, 0, DWARF_RNGLIST_INDEX },
	[DW_FORM_ref_sup8] = { BYTES, 8, DWARF_REFERENCE_ALT },
	[DW_FORM_strx1] = { BYTES, 1, DWARF_STRING_INDEX },
	[DW_FORM_strx2] = { BYTES, 2, DWARF_STRING_INDEX },
	[DW_FORM_strx3] = { BYTES, 3, DWARF_STRING_INDEX },
	[DW_FORM_strx4] = { BYTES, 4, DWARF_STRING_INDEX },
	[DW_FORM_addrx1] = { BYTES, 1, DWARF_ADDRESS_INDEX },
	[DW_FORM_addrx2] = { BYTES, 2, DWARF_ADDRESS_INDEX },
	[DW_FORM_addrx3] = { BYTES, 3, DWARF_ADDRESS_INDEX },
	[DW_FORM_addrx4] = { BYTES, 4, DWARF_ADDRESS_INDEX },
};

static struct form form_of(uint16_t form, uint16_t version)
{
	switch (form) {
	case DW_FORM_ref_addr: /* as wide as an address in version 2 */
		return version <= 2 ? (struct form){ ADDRESS_SIZE, 0, DWARF_REFERENCE }
				    : forms[form];
	case DW_FORM_GNU_addr_index:
		return forms[DW_FORM_addrx];
	case DW_FORM_GNU_str_index:
		return forms[DW_FORM_strx];
	case DW_FORM_GNU_ref_alt:
		return (struct form){ OFFSET_SIZE, 0, DWARF_REFERENCE_ALT };
	case DW_FORM_GNU_strp_alt:
		return forms[DW_FORM_strp_sup];
	default:
		return form < ARRAY_LEN(forms) ? forms[form] : (struct form){ 0 };
	}
}

bool dwarf_form_len(uint16_t form, struct dwarf_sizes sizes, size_t *ret_len)
{
	struct form how = form_of(form, sizes.version);

	if (how.shape == BYTES)
		*ret_len = how.len;
	else if (how.shape == ADDRESS_SIZE)
		*ret_len = sizes.address_size;
	else if (how.shape == OFFSET_SIZE)
		*ret_len = sizes.offset_size;
	else
		return false;
	return true;
}

/* A number of len bytes. A longer value than 8 bytes is skipped and returns 0. */
static uint64_t bytes_read(struct reader *r, uint8_t len)
{
	if (len == 3)
		return u24(r);
	if (len == 0 || len > 8) {
		reader_bytes(r, len);
		return 0;
	}
	return dwarf_word(r, len);
}

static struct dwarf_value value_read(struct reader *r, const struct dwarf_unit *unit,
				     struct form form)
{
	struct dwarf_value value = { .kind = form.kind };

	switch (form.shape) {
	case BYTES:
		value.number = bytes_read(r, form.len);
		break;
	case ADDRESS_SIZE:
		value.number = dwarf_word(r, unit->address_size);
		break;
	case OFFSET_SIZE:
		value.number = dwarf_word(r, unit->offset_size);
		break;
	case LEB:
		value.number = reader_varint(r);
		break;
	case SIGNED_LEB:
		value.number = (uint64_t)dwarf_sleb(r);
		break;
	case BLOCK_LEB:
		reader_bytes(r, reader_varint(r));
		break;
	case BLOCK:
		reader_bytes(r, dwarf_word(r, form.len));
		break;
	case TEXT:
		value.bytes = dwarf_text(r);
		break;
	case NONE:
		reader_fail(r);
		break;
	}
	return value;
}

struct dwarf_value dwarf_value_read(struct reader *r, const struct dwarf_unit *unit,
				    const struct dwarf_attribute *attribute)
{
	uint64_t form = attribute->form;

	if (form == DW_FORM_indirect) {
		form = reader_varint(r);
		if (form > UINT16_MAX || form == DW_FORM_implicit_const)
			form = 0;
	}

	struct dwarf_value value = value_read(r, unit, form_of((uint16_t)form, unit->version));

	if (form == DW_FORM_implicit_const)
		value.number = (uint64_t)attribute->implicit;
	else if (form == DW_FORM_flag_present)
		value.number = 1;
	else if (value.kind == DWARF_REFERENCE && form != DW_FORM_ref_addr)
		value.number += unit->start;
	return value;
}

void dwarf_values_skip(struct reader *r, const struct dwarf_unit *unit,
		       const struct dwarf_abbrev *abbrev)
{
	if (abbrev->fixed_len != UINT32_MAX) {
		reader_bytes(r, abbrev->fixed_len);
		return;
	}
	for (uint32_t i = 0; i < abbrev->attribute_count; i++)
		dwarf_value_read(r, unit, &abbrev->attributes[i]);
}

static str text_at(str section, uint64_t at)
{
	struct reader r = reader_of(str_skip(section, at));

	return dwarf_text(&r);
}

/* Reads the word with this index in the array that begins at offset base of the section. */
static bool word_at(str section, uint64_t base, uint64_t index, uint8_t size, uint64_t *ret_word)
{
	uint64_t at;

	if (__builtin_mul_overflow(index, size, &at) || __builtin_add_overflow(at, base, &at))
		return false;

	struct reader r = reader_of(str_skip(section, at));

	*ret_word = dwarf_word(&r, size);
	return !r.failed;
}

str dwarf_value_str(const struct dwarf_unit *unit, struct dwarf_value value)
{
	const struct dwarf_file *file = unit->file;
	uint64_t at;

	if (value.kind == DWARF_STRING)
		return value.bytes;
	if (value.kind == DWARF_STRING_OFFSET)
		return text_at(file->sections[DWARF_STR], value.number);
	if (value.kind == DWARF_STRING_LINE)
		return text_at(file->sections[DWARF_LINE_STR], value.number);
	if (value.kind == DWARF_STRING_ALT && file->alt)
		return text_at(file->alt->sections[DWARF_STR], value.number);
	if (value.kind == DWARF_STRING_INDEX &&
	    word_at(file->sections[DWARF_STR_OFFSETS], unit->str_offsets_base, value.number,
		    unit->offset_size, &at))
		return text_at(file->sections[DWARF_STR], at);
	return (str){ 0 };
}

bool dwarf_address_at(const struct dwarf_unit *unit, uint64_t index, uint64_t *ret_address)
{
	return word_at(unit->file->sections[DWARF_ADDR], unit->addr_base, index, unit->address_size,
		       ret_address);
}

bool dwarf_value_address(const struct dwarf_unit *unit, struct dwarf_value value,
			 uint64_t *ret_address)
{
	if (value.kind == DWARF_ADDRESS_INDEX)
		return dwarf_address_at(unit, value.number, ret_address);
	*ret_address = value.number;
	return value.kind == DWARF_ADDRESS;
}
