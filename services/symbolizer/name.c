// SPDX-License-Identifier: Apache-2.0
#include "name.h"

#include "object/demangle.h"
#include "symbolizer_limits.h"

/* A name of the linker's in the answer. */
struct named {
	str system_name, function;
};

void namer_init(struct namer *namer, struct arena *arena)
{
	*namer = (struct namer){ .arena = arena,
				 .lines_left = SYMBOLIZE_LINES_MAX,
				 .bytes_left = NAME_BYTES_MAX,
				 .functions = { .arena = arena },
				 .texts = { .arena = arena } };
}

static bool has_room(struct namer *namer, size_t len)
{
	if (len > namer->bytes_left)
		return false;
	namer->bytes_left -= len;
	return true;
}

/* The one copy of a text. */
static bool text(struct namer *namer, str bytes, str *ret_text)
{
	str *copy = bytes.len ? map_get(&namer->texts, bytes) : NULL;

	if (bytes.len && !copy) {
		if (!has_room(namer, bytes.len))
			return false;
		copy = arena_new(namer->arena, str);
		*copy = str_copy(namer->arena, bytes);
		*map_at(&namer->texts, *copy) = copy;
	}
	*ret_text = copy ? *copy : (str){ 0 };
	return true;
}

static bool function(struct namer *namer, const struct symbol_line *found,
		     struct symbolized_line *line)
{
	if (found->name.len)
		return text(namer, found->system_name, &line->system_name) &&
		       text(namer, found->name, &line->function);

	str system_name = found->system_name;
	struct named *named = map_get(&namer->functions, system_name);

	if (!named) {
		if (!has_room(namer, system_name.len))
			return false;
		named = arena_new(namer->arena, struct named);
		named->system_name = str_copy(namer->arena, system_name);
		named->function = demangle(named->system_name, namer->arena);
		if (!has_room(namer, named->function.len))
			return false;
		*map_at(&namer->functions, named->system_name) = named;
	}
	line->system_name = named->system_name;
	line->function = named->function;
	return true;
}

struct symbolized_location namer_lines(struct namer *namer, const struct symbol_line *found,
				       size_t count)
{
	if (!count)
		return (struct symbolized_location){ .reason = NAME_NO_SYMBOL };
	if (count > namer->lines_left)
		return (struct symbolized_location){ .reason = NAME_TOO_LARGE };

	struct symbolized_line *lines = arena_array(namer->arena, struct symbolized_line, count);

	for (size_t i = 0; i < count; i++) {
		lines[i].line = found[i].line;
		lines[i].start_line = found[i].start_line;
		if (!function(namer, &found[i], &lines[i]) ||
		    !text(namer, found[i].file, &lines[i].file))
			return (struct symbolized_location){ .reason = NAME_TOO_LARGE };
	}
	namer->lines_left -= count;
	return (struct symbolized_location){ .lines = lines, .line_count = count };
}

struct symbolized_location namer_find(struct namer *namer, const struct symbol_table *table,
				      uint64_t address)
{
	struct symbol_line found[SYMBOL_LINES_MAX];

	return namer_lines(namer, found, symbol_table_find(table, address, found));
}
