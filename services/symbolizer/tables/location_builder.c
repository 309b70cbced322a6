// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/tables/location_builder.h"

#include "symbolizer/symbolizer_limits.h"
#include "symbols/demangle.h"

/* A function name in the response, as the linker knows it and demangled. */
struct demangled_name {
	str system_name, function;
};

void location_builder_init(struct location_builder *builder, struct arena *arena)
{
	*builder = (struct location_builder){ .arena = arena,
					      .lines_left = SYMBOLIZE_LINES_MAX,
					      .bytes_left = NAME_BYTES_MAX,
					      .functions = { .arena = arena },
					      .texts = { .arena = arena } };
}

static bool reserve_bytes(struct location_builder *builder, size_t len)
{
	if (len > builder->bytes_left)
		return false;
	builder->bytes_left -= len;
	return true;
}

/* Copy each distinct text once. False: NAME_BYTES_MAX is exceeded. */
static bool intern_text(struct location_builder *builder, str bytes, str *ret_text)
{
	str *copy = bytes.len ? map_get(&builder->texts, bytes) : NULL;

	if (bytes.len && !copy) {
		if (!reserve_bytes(builder, bytes.len))
			return false;
		copy = arena_new(builder->arena, str);
		*copy = str_copy(builder->arena, bytes);
		*map_at(&builder->texts, *copy) = copy;
	}
	*ret_text = copy ? *copy : (str){ 0 };
	return true;
}

static bool intern_function(struct location_builder *builder, const struct symbol_line *symbols,
			    struct symbolized_line *line)
{
	if (symbols->name.len)
		return intern_text(builder, symbols->system_name, &line->system_name) &&
		       intern_text(builder, symbols->name, &line->function);

	str system_name = symbols->system_name;
	struct demangled_name *name = map_get(&builder->functions, system_name);

	if (!name) {
		if (!reserve_bytes(builder, system_name.len))
			return false;
		name = arena_new(builder->arena, struct demangled_name);
		name->system_name = str_copy(builder->arena, system_name);
		name->function = demangle(name->system_name, builder->arena);
		if (!reserve_bytes(builder, name->function.len))
			return false;
		*map_at(&builder->functions, name->system_name) = name;
	}
	line->system_name = name->system_name;
	line->function = name->function;
	return true;
}

struct symbolized_location location_builder_add(struct location_builder *builder,
						const struct symbol_line *symbols, size_t count)
{
	if (!count)
		return (struct symbolized_location){ .reason = NAME_NO_SYMBOL };
	if (count > builder->lines_left)
		return (struct symbolized_location){ .reason = NAME_TOO_LARGE };

	struct symbolized_line *lines = arena_array(builder->arena, struct symbolized_line, count);

	for (size_t i = 0; i < count; i++) {
		lines[i].line = symbols[i].line;
		lines[i].start_line = symbols[i].start_line;
		if (!intern_function(builder, &symbols[i], &lines[i]) ||
		    !intern_text(builder, symbols[i].file, &lines[i].file))
			return (struct symbolized_location){ .reason = NAME_TOO_LARGE };
	}
	builder->lines_left -= count;
	return (struct symbolized_location){ .lines = lines, .line_count = count };
}

struct symbolized_location location_builder_lookup(struct location_builder *builder,
						   const struct symbol_table *table,
						   uint64_t address)
{
	struct symbol_line symbols[SYMBOL_LINES_MAX];

	return location_builder_add(builder, symbols, symbol_table_find(table, address, symbols));
}
