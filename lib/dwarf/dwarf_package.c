// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_package.h"

#include <dwarf.h>

enum {
	COLUMNS_MAX = 8, /* DWARF defines 8 kinds of sections */
	SLOT_BYTES = 12, /* an id of a unit, and the number of its row */
	CELL_BYTES = 4,
};

/* The numbers of sections in the index, which are the same in both versions up to here. */
enum { COLUMN_INFO = 1, COLUMN_ABBREV = 3, COLUMN_STR_OFFSETS = 6, COLUMN_RNGLISTS = 8 };

struct index {
	uint32_t version; /* 2: GNU extension of DWARF 4 */
	uint32_t column_count, row_count, slot_count;
	str ids, rows; /* the hash table: an id and a row number, from 1, for each slot */
	str columns, offsets, sizes;
};

static uint64_t u64_at(str bytes, uint64_t index)
{
	struct reader r = reader_of(str_skip(bytes, index * sizeof(uint64_t)));

	return reader_u64(&r);
}

static uint32_t u32_at(str bytes, uint64_t index)
{
	struct reader r = reader_of(str_skip(bytes, index * sizeof(uint32_t)));

	return reader_u32(&r);
}

/* All counts are 32 bits wide and column_count is small: no product exceeds 64 bits. */
static bool index_read(str section, struct index *index)
{
	struct reader r = reader_of(section);

	index->version = reader_u32(&r) & UINT16_MAX; /* 16 bits and padding in version 5 */
	index->column_count = reader_u32(&r);
	index->row_count = reader_u32(&r);
	index->slot_count = reader_u32(&r);
	if (r.failed || (index->version != 2 && index->version != 5) ||
	    index->column_count > COLUMNS_MAX ||
	    (index->slot_count & (index->slot_count - 1)) != 0) /* a power of two */
		return false;

	uint64_t table = (uint64_t)index->row_count * index->column_count * CELL_BYTES;

	index->ids = reader_bytes(&r, (size_t)index->slot_count * sizeof(uint64_t));
	index->rows = reader_bytes(&r, (size_t)index->slot_count * sizeof(uint32_t));
	index->columns = reader_bytes(&r, (size_t)index->column_count * CELL_BYTES);
	index->offsets = reader_bytes(&r, table);
	index->sizes = reader_bytes(&r, table);
	return !r.failed;
}

/* The row of the unit, from 0; UINT32_MAX: none. Double hashing, as the standard defines it. */
static uint32_t row_find(const struct index *index, uint64_t id, uint64_t *steps)
{
	uint32_t mask = index->slot_count - 1;
	uint32_t slot = (uint32_t)id & mask, stride = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t probes = 0; probes < index->slot_count; probes++) {
		uint32_t row = u32_at(index->rows, slot);

		++*steps;
		if (row == 0)
			break;
		if (u64_at(index->ids, slot) == id)
			return row <= index->row_count ? row - 1 : UINT32_MAX;
		slot = (slot + stride) & mask;
	}
	return UINT32_MAX;
}

/* The unit's part of a section. False: it is not inside the section. */
static bool part_take(str section, uint32_t offset, uint32_t size, str *ret_part)
{
	str part = str_skip(section, offset);

	if (size > part.len)
		return false;
	*ret_part = (str){ part.ptr, size };
	return true;
}

/* The section of a column. False: it is not needed. */
static bool section_of(const struct index *index, uint32_t column, enum dwarf_section *ret_section)
{
	switch (column) {
	case COLUMN_INFO:
		*ret_section = DWARF_INFO;
		return true;
	case COLUMN_ABBREV:
		*ret_section = DWARF_ABBREV;
		return true;
	case COLUMN_STR_OFFSETS:
		*ret_section = DWARF_STR_OFFSETS;
		return true;
	case COLUMN_RNGLISTS:
		*ret_section = DWARF_RNGLISTS;
		return index->version >= 5; /* before, it is the number of macros */
	default:
		return false;
	}
}

static bool parts_take(const struct dwarf_file *package, const struct index *index, uint32_t row,
		       struct dwarf_file *file)
{
	for (uint32_t i = 0; i < index->column_count; i++) {
		uint64_t cell = (uint64_t)row * index->column_count + i;
		enum dwarf_section section;

		if (section_of(index, u32_at(index->columns, i), &section) &&
		    !part_take(package->sections[section], u32_at(index->offsets, cell),
			       u32_at(index->sizes, cell), &file->sections[section]))
			return false;
	}
	return true;
}

/* The unit's part of .debug_str_offsets and of .debug_rnglists begins with a header in version 5,
 * and no attribute has the offset of what follows. */
static void bases_set(struct dwarf_unit *unit, const struct dwarf_unit *skeleton)
{
	bool is_wide = unit->offset_size == 8;

	unit->addr_base = skeleton->addr_base;
	unit->ranges_base = skeleton->ranges_base;
	if (unit->version >= 5) {
		unit->str_offsets_base = is_wide ? 16 : 8;
		unit->rnglists_base = is_wide ? 20 : 12;
	}
}

struct dwarf_unit *dwarf_package_find(const struct dwarf_file *package,
				      const struct dwarf_unit *skeleton, uint64_t *steps)
{
	struct index index = { 0 };
	uint32_t row;

	if (!index_read(package->sections[DWARF_CU_INDEX], &index))
		return NULL;
	row = row_find(&index, skeleton->dwo_id, steps);
	if (row == UINT32_MAX)
		return NULL;

	struct dwarf_file *file = arena_new(package->arena, struct dwarf_file);

	file->sections[DWARF_STR] = package->sections[DWARF_STR];
	file->sections[DWARF_ADDR] = skeleton->file->sections[DWARF_ADDR];
	file->sections[DWARF_LINE] = skeleton->file->sections[DWARF_LINE];
	file->sections[DWARF_LINE_STR] = skeleton->file->sections[DWARF_LINE_STR];
	file->sections[DWARF_RANGES] = skeleton->file->sections[DWARF_RANGES];
	if (!parts_take(package, &index, row, file))
		return NULL;
	*steps += file->sections[DWARF_INFO].len + file->sections[DWARF_ABBREV].len;
	dwarf_file_index(file, package->memory_max, package->arena);
	if (!file->units.len)
		return NULL;

	struct dwarf_unit *unit = &file->units.items[0];

	bases_set(unit, skeleton);
	if (!dwarf_unit_load(unit) || unit->dwo_id != skeleton->dwo_id)
		return NULL;
	/* what the standard says that a split unit inherits */
	unit->low_pc = skeleton->low_pc;
	unit->lines_at = skeleton->lines_at;
	unit->directory = skeleton->directory;
	return unit;
}
