// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_contexts.h"
#include "dwarf/dwarf_entry.h"
#include "dwarf/dwarf_package.h"
#include "dwarf/dwarf_ranges.h"
#include "elf/limits.h"
#include "symbols/dwarf_functions_internal.h"
#include "symbols/dwarf_lines_internal.h"

#include <dwarf.h>

/* Identifies an entry: a split unit and the file of dwz are files of their own. */
struct entry_key {
	const struct dwarf_file *file;
	uint64_t at; /* offset in .debug_info */
};

/* The attributes of a function, from its entry and its base entries. */
struct function_attributes {
	struct entry_key key;
	str name, linkage_name;
	uint32_t line;
	uint32_t function;                /* id of the writer; 0: not looked up yet */
	struct dwarf_file *declared_file; /* of the last base entry: its parents qualify the name */
	uint64_t declared_at;
};

enum { QUALIFIED_BYTES_PER_STEP = 64 };

/* The current position in the tree of calls. */
struct scope {
	uint32_t node, depth; /* 0: in no function */
};

struct dwarf_walk {
	struct symbol_model *model;
	struct map attributes; /* by `key` */
	struct map lines;      /* by offset */
	VEC(struct scope) scopes;
	struct dwarf_contexts contexts;
	struct buf qualified; /* scratch of qualified_of() */
};

static uint32_t number_of(uint64_t value)
{
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static struct function_attributes entry_attributes(const struct dwarf_unit *unit,
						   const struct dwarf_entry *entry)
{
	return (struct function_attributes){
		.declared_file = unit->file,
		.declared_at = entry->at,
		.name = dwarf_value_str(unit, entry->name),
		.linkage_name = dwarf_value_str(unit, entry->linkage_name),
		.line = number_of(entry->declared_line),
	};
}

/* Takes missing attributes from the base entry. */
static void attributes_complete(struct function_attributes *attributes,
				const struct function_attributes *base)
{
	if (!attributes->name.len)
		attributes->name = base->name;
	if (!attributes->linkage_name.len)
		attributes->linkage_name = base->linkage_name;
	if (!attributes->line)
		attributes->line = base->line;
	if (base->declared_file) { /* otherwise the base cannot be read */
		attributes->declared_file = base->declared_file;
		attributes->declared_at = base->declared_at;
	}
}

/* The attributes of the entry and its bases. Cached: inlined functions refer to it often. */
static struct function_attributes *attributes_at(struct dwarf_walk *walk, struct dwarf_file *file,
						 uint64_t at)
{
	struct entry_key key = { file, at };
	struct function_attributes *attributes =
		map_get(&walk->attributes, (str){ (const char *)&key, sizeof(key) });

	if (attributes)
		return attributes;
	attributes = arena_new(walk->model->arena, struct function_attributes);
	for (size_t hop = 0; file && hop < DWARF_BASES_MAX; hop++) {
		struct dwarf_unit *unit;
		struct dwarf_entry entry;
		struct function_attributes more;

		if (!dwarf_entry_at(file, at, &walk->model->steps, &unit, &entry))
			break;
		more = entry_attributes(unit, &entry);
		attributes_complete(attributes, &more);
		file = dwarf_entry_base(file, &entry);
		at = entry.base.number;
	}
	attributes->key = key;
	*map_at(&walk->attributes, (str){ (const char *)&attributes->key, sizeof(key) }) =
		attributes;
	return attributes;
}

/* The qualified name, with namespaces and types; empty: the function is in none of them. */
static str qualified_of(struct dwarf_walk *walk, const struct function_attributes *attributes)
{
	struct buf *out = &walk->qualified;
	str prefix = dwarf_contexts_of(&walk->contexts, attributes->declared_file,
				       attributes->declared_at);

	if (!prefix.len || !attributes->name.len ||
	    attributes->name.len > SYMBOL_NAME_MAX - prefix.len)
		return (str){ 0 };
	walk->model->steps += (prefix.len + attributes->name.len) / QUALIFIED_BYTES_PER_STEP;
	out->len = 0;
	buf_str(out, prefix);
	buf_str(out, attributes->name);
	return buf_bytes(out);
}

/* A part of a coroutine, which has the name of the coroutine in DWARF: "_Z3runv.resume". */
static bool is_coroutine_part(str symbol, str name)
{
	static const str parts[] = { STR(".resume"), STR(".destroy"), STR(".cleanup"),
				     STR(".actor") };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (symbol.len == name.len + parts[i].len && str_starts_with(symbol, name) &&
		    str_ends_with(symbol, parts[i]))
			return true;
	return false;
}

static bool is_mangled(str name)
{
	return str_starts_with(name, STR("_Z")) || str_starts_with(name, STR("_R"));
}

/*
 * True if the function has the symbol's name, and not its name in DWARF: it is a part of a
 * coroutine, or it is exported under another name than that of its definition (recvmsg and
 * __libc_recvmsg). A symbol like "name.part.0" or Go's "name.abi0" is a clone of that name.
 */
static bool symbol_replaces(const struct elf_symbol *symbol, str name)
{
	if (!symbol || str_eq(symbol->name, name))
		return false;
	if (is_coroutine_part(symbol->name, name))
		return true;
	if (str_starts_with(symbol->name, name) && symbol->name.ptr[name.len] == '.')
		return false;
	return symbol->is_public || elf_symbol_is_internal(name);
}

/*
 * Functions with internal linkage often have no linkage name (gcc), and with few debug options none
 * has; then the ELF symbol has it.
 */
static bool symbol_is_linkage_name(const struct elf_symbol *symbol,
				   const struct function_attributes *attributes)
{
	return symbol && !attributes->linkage_name.len &&
	       (!attributes->name.len || is_mangled(symbol->name));
}

/*
 * The writer's id of the function; 0: it has no name. start is 0 for an inlined call, which has no
 * symbol: its name must not come from the cache of the base entry to a function with code of its
 * own.
 */
static uint32_t function_of(struct dwarf_walk *walk, const struct dwarf_unit *unit,
			    const struct dwarf_entry *entry, uint64_t start)
{
	struct dwarf_file *file = dwarf_entry_base(unit->file, entry);
	struct function_attributes *base =
		file ? attributes_at(walk, file, entry->base.number) : NULL;
	struct function_attributes attributes = entry_attributes(unit, entry);
	bool is_base = base && !attributes.name.len && !attributes.linkage_name.len &&
		       (!attributes.line || attributes.line == base->line);
	const struct elf_symbol *symbol =
		start ? symbol_model_find_symbol(walk->model, start) : NULL;

	if (base)
		attributes_complete(&attributes, base);

	str name = attributes.linkage_name.len ? attributes.linkage_name : attributes.name;
	bool is_replaced = symbol_is_linkage_name(symbol, &attributes) ||
			   (name.len && symbol_replaces(symbol, name));

	if (start && (is_replaced || !attributes.linkage_name.len))
		is_base = false;
	if (is_base && base->function)
		return base->function;
	if (symbol && is_replaced)
		attributes.linkage_name = name = symbol->name;
	if (!name.len)
		return 0;

	str qualified = attributes.linkage_name.len ? (str){ 0 } : qualified_of(walk, &attributes);
	uint32_t function =
		symbol_writer_qualified(&walk->model->writer, name, qualified, attributes.line);

	if (is_base)
		base->function = function;
	return function;
}

/* Adds the entry's address ranges. False: none of them is in a section with code. */
static bool ranges_add(struct symbol_model *model, const struct dwarf_unit *unit,
		       const struct dwarf_entry *entry, struct symbol_span span)
{
	uint64_t low, high;
	bool any = false;

	if (entry->ranges.kind != DWARF_NOTHING) {
		struct dwarf_ranges ranges = dwarf_ranges_of(unit, entry->ranges);

		while (dwarf_ranges_next(&ranges, &span.start, &span.end)) {
			any |= symbol_model_add_span(model, span);
			if (++model->steps > model->steps_max)
				break;
		}
		return any;
	}
	if (entry->low.kind == DWARF_NOTHING || !dwarf_value_address(unit, entry->low, &low) ||
	    entry->high.kind == DWARF_NOTHING)
		return false;
	if (!dwarf_value_address(unit, entry->high, &high))
		high = low + entry->high.number;
	span.start = low;
	span.end = high;
	return symbol_model_add_span(model, span);
}

static struct dwarf_lines *lines_of(struct dwarf_walk *walk, const struct dwarf_unit *unit)
{
	str key = { (const char *)&unit->lines_at, sizeof(unit->lines_at) };
	struct dwarf_lines *lines;

	if (unit->lines_at == UINT64_MAX)
		return NULL;
	lines = map_get(&walk->lines, key);
	if (!lines) {
		lines = dwarf_lines_read(unit, walk->model);
		if (!lines) /* malformed: cached as an empty table */
			lines = arena_new(walk->model->arena, struct dwarf_lines);
		*map_at(&walk->lines, key) = lines;
	}
	return lines;
}

/*
 * Adds the node of a function. Its address ranges were just added with the id that the node gets.
 * False: the function has no name; its ranges are removed again.
 */
static bool node_add(struct dwarf_walk *walk, const struct dwarf_unit *unit,
		     const struct dwarf_entry *entry, struct symbol_node node, size_t span_count)
{
	/* compilers list the part with the entry point first, then parts such as .cold */
	uint64_t start = node.parent ? 0 : walk->model->spans.items[span_count].start;

	node.function = function_of(walk, unit, entry, start);
	if (!node.function) {
		walk->model->spans.len = span_count;
		return false;
	}
	symbol_writer_node(&walk->model->writer, node);
	return true;
}

/*
 * Adds a function, or a call that was inlined into the function of the outer scope, and returns its
 * scope. Entries without code (declarations, abstract origins of inlined functions) and calls that
 * are inlined too deep keep the outer scope.
 */
static struct scope function_add(struct dwarf_walk *walk, const struct dwarf_unit *unit,
				 struct dwarf_lines *lines, const struct dwarf_entry *entry,
				 struct scope outer)
{
	struct symbol_model *model = walk->model;
	struct symbol_node node = { .parent = outer.node };
	struct symbol_span span = { .depth = outer.depth + 1,
				    .node = (uint32_t)model->writer.nodes.len };
	size_t span_count = model->spans.len;

	if (outer.depth >= SYMBOL_LINES_MAX || !ranges_add(model, unit, entry, span))
		return outer;
	if (outer.node && lines) {
		node.call_file = dwarf_lines_file(lines, entry->call_file, model);
		node.call_line = number_of(entry->call_line);
	}
	if (!node_add(walk, unit, entry, node, span_count))
		return outer;
	return (struct scope){ span.node, span.depth };
}

/* Reads an entry. Returns the scope of its children. */
static struct scope entry_walk(struct dwarf_walk *walk, const struct dwarf_unit *unit,
			       struct dwarf_lines *lines, const struct dwarf_abbrev *abbrev,
			       uint64_t at, struct reader *r, struct scope scope)
{
	if (abbrev->tag != DW_TAG_subprogram && abbrev->tag != DW_TAG_inlined_subroutine) {
		if (abbrev->fixed_len == UINT32_MAX)
			walk->model->steps += abbrev->attribute_count;
		dwarf_values_skip(r, unit, abbrev);
		return scope;
	}

	struct dwarf_entry entry = dwarf_entry_read(r, at, unit, abbrev, &walk->model->steps);

	if (r->failed)
		return scope;
	if (abbrev->tag == DW_TAG_subprogram) /* even inside another function it is not a call */
		scope = (struct scope){ 0 };
	return function_add(walk, unit, lines, &entry, scope);
}

/*
 * True for a skeleton whose functions are in a file that is not available. Its lines are those of
 * inlined calls, too: with the name of an ELF symbol they would say that the symbol's function is
 * in the file of what was inlined into it. A skeleton of clang can have functions.
 */
static bool is_bare(const struct dwarf_unit *unit)
{
	struct reader r = reader_of(str_skip(unit->file->sections[DWARF_INFO], unit->entries));
	const struct dwarf_abbrev *root = dwarf_abbrevs_find(unit->abbrevs, reader_varint(&r));

	return unit->is_skeleton && !(root && root->has_children);
}

/* The tree is stored in preorder: the children of an entry follow it, then a 0. */
static bool unit_walk(struct dwarf_walk *walk, const struct dwarf_unit *unit, struct err *err)
{
	str bytes = str_skip(unit->file->sections[DWARF_INFO], unit->entries);
	struct dwarf_lines *lines = is_bare(unit) ? NULL : lines_of(walk, unit);
	struct scope scope = { 0 };

	bytes.len = unit->end - unit->entries;
	walk->scopes.len = 0;
	for (struct reader r = reader_of(bytes); reader_left(&r);) {
		uint64_t at = unit->end - reader_left(&r), code = reader_varint(&r);

		if (code == 0 && walk->scopes.len == 0)
			break;
		if (code == 0) {
			scope = walk->scopes.items[--walk->scopes.len];
			continue;
		}

		const struct dwarf_abbrev *abbrev = dwarf_abbrevs_find(unit->abbrevs, code);

		if (!abbrev)
			break;

		struct scope inner = entry_walk(walk, unit, lines, abbrev, at, &r, scope);

		if (!symbol_model_check(walk->model, err))
			return false;
		if (abbrev->has_children) {
			*vec_push(walk->model->arena, &walk->scopes) = scope;
			scope = inner;
		}
	}
	return true;
}

bool dwarf_functions_read(struct dwarf_file *file, const struct dwarf_file *package,
			  struct symbol_model *model, struct err *err)
{
	struct dwarf_walk walk = { .model = model };

	walk.attributes.arena = walk.lines.arena = walk.qualified.arena = model->arena;
	dwarf_contexts_init(&walk.contexts, model->arena, model->memory_max, &model->steps);
	for (enum dwarf_section i = 0; i < DWARF_SECTION_COUNT; i++)
		symbol_model_add_input(model, file->sections[i].len +
						      (package ? package->sections[i].len : 0));
	for (size_t i = 0; i < file->units.len; i++) {
		struct dwarf_unit *unit = &file->units.items[i], *split = NULL;

		if (unit->type == DW_UT_type || unit->type == DW_UT_split_type ||
		    !dwarf_unit_load(unit))
			continue;
		if (unit->is_skeleton && package)
			split = dwarf_package_find(package, unit, &model->steps);
		model->writer.split_units += unit->is_skeleton && !split;
		if (!unit_walk(&walk, split ? split : unit, err))
			return false;
	}
	return symbol_model_check(model, err);
}
