// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_contexts.h"

#include "base/sorted.h"
#include "elf/limits.h"

#include <dwarf.h>

struct context {
	uint64_t start, end; /* offsets in .debug_info */
	uint32_t parent;     /* number in the unit, from 1; 0: none */
	bool is_known;       /* prefix is set */
	str prefix;          /* with its own name as the last part */
};

struct unit_contexts {
	const struct dwarf_unit *unit;
	VEC(struct context) items; /* sorted by start */
};

void dwarf_contexts_init(struct dwarf_contexts *contexts, struct arena *arena, uint64_t memory_max,
			 uint64_t *steps)
{
	*contexts = (struct dwarf_contexts){ .units = { .arena = arena },
					     .arena = arena,
					     .memory_max = memory_max,
					     .steps = steps };
}

/* A unit without a language, such as a unit of dwz, may have namespaces. */
static bool has_namespaces(const struct dwarf_unit *unit)
{
	switch (unit->language) {
	case 0:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_ObjC_plus_plus:
	case DW_LANG_Rust:
		return true;
	}
	/* C++17, 20 and 23, which dwarf.h does not define yet */
	return unit->language == 0x2a || unit->language == 0x2b || unit->language == 0x3a;
}

static bool is_type(uint16_t tag)
{
	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static uint32_t context_add(struct dwarf_contexts *contexts, struct unit_contexts *found,
			    uint64_t start, uint32_t parent)
{
	*vec_push(contexts->arena, &found->items) =
		(struct context){ .start = start, .end = found->unit->end, .parent = parent };
	return (uint32_t)found->items.len;
}

/* Most functions contain no types. One that does becomes a context at its first type. */
static uint32_t function_context(struct dwarf_contexts *contexts, struct unit_contexts *found,
				 uint32_t function)
{
	struct dwarf_open *open = &contexts->open.items[function - 1];

	if (!open->is_context) {
		open->context = context_add(contexts, found, open->at, open->context);
		open->is_context = true;
	}
	return open->context;
}

static void entry_open(struct dwarf_contexts *contexts, struct unit_contexts *found, uint16_t tag,
		       uint64_t at)
{
	size_t count = contexts->open.len;
	struct dwarf_open open = { .at = at };

	if (count) {
		open.context = contexts->open.items[count - 1].context;
		open.function = contexts->open.items[count - 1].function;
	}
	if (tag == DW_TAG_namespace || is_type(tag)) {
		if (open.function)
			open.context = function_context(contexts, found, open.function);
		open.context = context_add(contexts, found, at, open.context);
		open.function = 0;
		open.is_context = true;
	} else if (tag == DW_TAG_subprogram && count < UINT32_MAX) {
		open.function = (uint32_t)count + 1;
	}
	*vec_push(contexts->arena, &contexts->open) = open;
}

static void entry_close(struct dwarf_contexts *contexts, struct unit_contexts *found, uint64_t at)
{
	const struct dwarf_open *open = &contexts->open.items[--contexts->open.len];

	if (open->is_context)
		found->items.items[open->context - 1].end = at;
}

static void tree_read(struct dwarf_contexts *contexts, struct unit_contexts *found)
{
	const struct dwarf_unit *unit = found->unit;
	str bytes = str_skip(unit->file->sections[DWARF_INFO], unit->entries);

	bytes.len = unit->end - unit->entries;
	contexts->open.len = 0;
	for (struct reader r = reader_of(bytes);
	     reader_left(&r) && contexts->arena->size <= contexts->memory_max;) {
		uint64_t at = unit->end - reader_left(&r), code = reader_varint(&r);

		if (code == 0 && contexts->open.len == 0)
			break;
		if (code == 0) {
			entry_close(contexts, found, at);
			continue;
		}

		const struct dwarf_abbrev *abbrev = dwarf_abbrevs_find(unit->abbrevs, code);

		if (!abbrev)
			break;
		if (abbrev->fixed_len == UINT32_MAX)
			*contexts->steps += abbrev->attribute_count;
		dwarf_values_skip(&r, unit, abbrev);
		if (abbrev->has_children)
			entry_open(contexts, found, abbrev->tag, at);
	}
}

static struct unit_contexts *unit_find(struct dwarf_contexts *contexts,
				       const struct dwarf_unit *unit)
{
	struct unit_contexts *found =
		map_get(&contexts->units, (str){ (const char *)&unit, sizeof(unit) });

	if (found)
		return found;
	found = arena_new(contexts->arena, struct unit_contexts);
	found->unit = unit;
	if (has_namespaces(unit))
		tree_read(contexts, found);
	*map_at(&contexts->units, (str){ (const char *)&found->unit, sizeof(unit) }) = found;
	return found;
}

/* The innermost context around this offset, except one that begins there; NULL: none. */
static struct context *context_around(struct dwarf_contexts *contexts, struct unit_contexts *found,
				      uint64_t at)
{
	struct context *items = found->items.items;
	size_t number = sorted_before(items, found->items.len, each, each->start < at);

	while (number && items[number - 1].end <= at) {
		number = items[number - 1].parent;
		(*contexts->steps)++;
	}
	return number ? &items[number - 1] : NULL;
}

static str name_of(const struct dwarf_unit *unit, const struct dwarf_entry *entry)
{
	str name = dwarf_value_str(unit, entry->name);

	if (name.len || entry->base.kind != DWARF_NOTHING)
		return name;
	if (entry->tag == DW_TAG_namespace)
		return STR("(anonymous namespace)");
	return is_type(entry->tag) ? STR("(anonymous class)") : (str){ 0 };
}

static str prefix_at(struct dwarf_contexts *contexts, struct dwarf_file *file, uint64_t at,
		     size_t depth);

/* The prefix of the innermost context, then the name of the entry or of its base. */
static str prefix_make(struct dwarf_contexts *contexts, struct dwarf_file *file, uint64_t at,
		       size_t depth)
{
	struct dwarf_file *declared_file = file;
	uint64_t declared_at = at;
	str name = { 0 };

	for (size_t hop = 0; file && hop < DWARF_BASES_MAX; hop++) {
		struct dwarf_unit *unit;
		struct dwarf_entry entry;

		if (!dwarf_entry_at(file, at, contexts->steps, &unit, &entry))
			break;
		if (!name.len)
			name = name_of(unit, &entry);
		declared_file = file;
		declared_at = at;
		file = dwarf_entry_base(file, &entry);
		at = entry.base.number;
	}

	str outer = prefix_at(contexts, declared_file, declared_at, depth + 1);

	if (!name.len || name.len > DWARF_CONTEXT_BYTES_MAX - 2)
		return (str){ 0 };
	if (outer.len + name.len + 2 > DWARF_CONTEXT_BYTES_MAX)
		outer.len = 0;
	return str_format(contexts->arena, STR_FMT STR_FMT "::", STR_ARG(outer), STR_ARG(name));
}

/* Marked as known, and empty, before it is computed: a reference cycle ends there. */
static str prefix_at(struct dwarf_contexts *contexts, struct dwarf_file *file, uint64_t at,
		     size_t depth)
{
	struct dwarf_unit *unit = dwarf_unit_at(file, at);

	if (!unit || depth >= DWARF_CONTEXTS_MAX || !dwarf_unit_load(unit))
		return (str){ 0 };

	struct context *context = context_around(contexts, unit_find(contexts, unit), at);

	if (!context)
		return (str){ 0 };
	if (!context->is_known) {
		context->is_known = true;
		context->prefix = prefix_make(contexts, file, context->start, depth);
	}
	return context->prefix;
}

str dwarf_contexts_of(struct dwarf_contexts *contexts, struct dwarf_file *file, uint64_t at)
{
	return prefix_at(contexts, file, at, 0);
}
