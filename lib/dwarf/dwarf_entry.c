// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_entry.h"

#include <dwarf.h>

static void attribute_set(struct dwarf_entry *entry, uint16_t name, struct dwarf_value value)
{
	switch (name) {
	case DW_AT_low_pc:
		entry->low = value;
		break;
	case DW_AT_high_pc:
		entry->high = value;
		break;
	case DW_AT_ranges:
		entry->ranges = value;
		break;
	case DW_AT_name:
		entry->name = value;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		entry->linkage_name = value;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		entry->base = value;
		break;
	case DW_AT_decl_line:
		entry->declared_line = value.number;
		break;
	case DW_AT_call_file:
		entry->call_file = value.number;
		break;
	case DW_AT_call_line:
		entry->call_line = value.number;
		break;
	}
}

struct dwarf_entry dwarf_entry_read(struct reader *r, uint64_t at, const struct dwarf_unit *unit,
				    const struct dwarf_abbrev *abbrev, uint64_t *steps)
{
	struct dwarf_entry entry = { .at = at, .tag = abbrev->tag };

	*steps += abbrev->attribute_count; /* an attribute may have no bytes */
	for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
		const struct dwarf_attribute *attribute = &abbrev->attributes[i];

		attribute_set(&entry, attribute->name, dwarf_value_read(r, unit, attribute));
	}
	return entry;
}

bool dwarf_entry_at(struct dwarf_file *file, uint64_t at, uint64_t *steps,
		    struct dwarf_unit **ret_unit, struct dwarf_entry *ret_entry)
{
	struct dwarf_unit *unit = dwarf_unit_at(file, at);

	if (!unit || at < unit->entries || !dwarf_unit_load(unit))
		return false;

	str bytes = str_skip(file->sections[DWARF_INFO], at);

	bytes.len = unit->end - at;

	struct reader r = reader_of(bytes);
	const struct dwarf_abbrev *abbrev = dwarf_abbrevs_find(unit->abbrevs, reader_varint(&r));

	if (!abbrev)
		return false;
	*ret_unit = unit;
	*ret_entry = dwarf_entry_read(&r, at, unit, abbrev, steps);
	return !r.failed;
}

struct dwarf_file *dwarf_entry_base(struct dwarf_file *file, const struct dwarf_entry *entry)
{
	if (entry->base.kind == DWARF_REFERENCE)
		return file;
	return entry->base.kind == DWARF_REFERENCE_ALT ? file->alt : NULL;
}
