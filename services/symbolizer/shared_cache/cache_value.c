// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"
#include "base/reader.h"
#include "symbolizer/shared_cache/cache_value_internal.h"

enum { VERSION = 3 };

/* The name, or empty if it follows from the system name: a mangled name is demangled again. */
static str name_of(const struct symbolized_line *line)
{
	if (str_starts_with(line->system_name, STR("_Z")) ||
	    str_starts_with(line->system_name, STR("_R")) ||
	    str_eq(line->function, line->system_name))
		return (str){ 0 };
	return line->function;
}

str cache_value_encode(const struct symbolized_location *location, struct arena *arena)
{
	struct buf out = { .arena = arena };

	buf_u8(&out, VERSION);
	buf_varint(&out, location->line_count);
	for (size_t i = 0; i < location->line_count; i++) {
		const struct symbolized_line *line = &location->lines[i];

		buf_str_prefixed(&out, line->system_name);
		buf_str_prefixed(&out, name_of(line));
		buf_str_prefixed(&out, line->file);
		buf_varint(&out, line->line);
		buf_varint(&out, line->start_line);
	}
	return buf_bytes(&out);
}

bool cache_value_decode(str bytes, struct location_builder *builder,
			struct symbolized_location *ret_location)
{
	struct reader r = reader_of(bytes);
	struct symbol_line lines[SYMBOL_LINES_MAX];
	uint64_t version = reader_u8(&r), count = reader_varint(&r);

	if (r.failed || version != VERSION || count > SYMBOL_LINES_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		lines[i].system_name = reader_str_prefixed(&r);
		lines[i].name = reader_str_prefixed(&r);
		lines[i].file = reader_str_prefixed(&r);

		uint64_t line = reader_varint(&r), start_line = reader_varint(&r);

		if (r.failed || !lines[i].system_name.len || line > UINT32_MAX ||
		    start_line > UINT32_MAX)
			return false;
		lines[i].line = (uint32_t)line;
		lines[i].start_line = (uint32_t)start_line;
	}
	if (reader_left(&r))
		return false;
	*ret_location = location_builder_add(builder, lines, count);
	return true;
}
