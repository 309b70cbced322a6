// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_ranges.h"

#include <dwarf.h>

struct dwarf_ranges dwarf_ranges_of(const struct dwarf_unit *unit, struct dwarf_value value)
{
	struct dwarf_ranges ranges = { .unit = unit, .base = unit->low_pc };
	str section = unit->file->sections[unit->version >= 5 ? DWARF_RNGLISTS : DWARF_RANGES];
	uint64_t at = value.number;

	if (value.kind == DWARF_RNGLIST_INDEX) {
		uint64_t slot;

		if (__builtin_mul_overflow(value.number, unit->offset_size, &slot) ||
		    __builtin_add_overflow(slot, unit->rnglists_base, &slot))
			return ranges;

		struct reader r = reader_of(str_skip(section, slot));

		at = dwarf_word(&r, unit->offset_size) + unit->rnglists_base;
		if (r.failed)
			return ranges;
	} else if (value.kind != DWARF_OFFSET && value.kind != DWARF_NUMBER) {
		return ranges; /* DWARF_NUMBER: version 3 and before */
	} else if (unit->version < 5) {
		at += unit->ranges_base;
	}
	ranges.r = reader_of(str_skip(section, at));
	return ranges;
}

/* Pairs of words. Two zeros end the list; after a word with all bits set comes a new base. */
static bool next_of_old(struct dwarf_ranges *ranges, uint64_t *start, uint64_t *end)
{
	uint8_t size = ranges->unit->address_size;
	uint64_t ones = size == 4 ? UINT32_MAX : UINT64_MAX;

	for (;;) {
		*start = dwarf_word(&ranges->r, size);
		*end = dwarf_word(&ranges->r, size);
		if (ranges->r.failed || (*start == 0 && *end == 0))
			return false;
		if (*start != ones)
			break;
		ranges->base = *end;
	}
	*start += ranges->base;
	*end += ranges->base;
	return true;
}

bool dwarf_ranges_next(struct dwarf_ranges *ranges, uint64_t *ret_start, uint64_t *ret_end)
{
	struct reader *r = &ranges->r;
	const struct dwarf_unit *unit = ranges->unit;

	if (unit->version < 5)
		return next_of_old(ranges, ret_start, ret_end);
	for (;;) {
		bool known = true;

		switch (reader_u8(r)) {
		case DW_RLE_base_addressx:
			known = dwarf_address_at(unit, reader_varint(r), &ranges->base);
			break;
		case DW_RLE_base_address:
			ranges->base = dwarf_word(r, unit->address_size);
			break;
		case DW_RLE_startx_endx:
			known = dwarf_address_at(unit, reader_varint(r), ret_start) &&
				dwarf_address_at(unit, reader_varint(r), ret_end);
			return known && !r->failed;
		case DW_RLE_startx_length:
			known = dwarf_address_at(unit, reader_varint(r), ret_start);
			*ret_end = *ret_start + reader_varint(r);
			return known && !r->failed;
		case DW_RLE_offset_pair:
			*ret_start = ranges->base + reader_varint(r);
			*ret_end = ranges->base + reader_varint(r);
			return !r->failed;
		case DW_RLE_start_end:
			*ret_start = dwarf_word(r, unit->address_size);
			*ret_end = dwarf_word(r, unit->address_size);
			return !r->failed;
		case DW_RLE_start_length:
			*ret_start = dwarf_word(r, unit->address_size);
			*ret_end = *ret_start + reader_varint(r);
			return !r->failed;
		default: /* the end, or an unknown kind */
			return false;
		}
		if (!known || r->failed)
			return false;
	}
}
