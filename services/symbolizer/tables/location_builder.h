// SPDX-License-Identifier: Apache-2.0
/*
 * location_builder - makes the symbolized locations of one response, within its limits.
 *
 * All texts are copied into the arena, each distinct text once. A response has at most
 * SYMBOLIZE_LINES_MAX lines and NAME_BYTES_MAX bytes of distinct texts; beyond a limit a location
 * has the reason NAME_TOO_LARGE. One thread.
 */
#pragma once

#include "base/map.h"
#include "symbols/symbol_table.h"
#include "wire/symbolize.h"

struct location_builder {
	struct arena *arena;
	size_t lines_left, bytes_left; /* what the response may still use */
	/* private */
	struct map functions; /* system name -> its struct demangled_name */
	struct map texts;     /* paths, and names that need no demangling -> their copy, a str */
};

/* The arena is kept and holds all memory of the builder; there is nothing to free. */
void location_builder_init(struct location_builder *builder, struct arena *arena);

/* Returns the location with these lines, innermost first. The texts of `symbols` are copied. No
 * lines: the reason is NAME_NO_SYMBOL. */
struct symbolized_location location_builder_add(struct location_builder *builder,
						const struct symbol_line *symbols, size_t count);

/* Looks the address up in the table and returns its location, as location_builder_add() does. The
 * table may be closed afterwards. */
struct symbolized_location location_builder_lookup(struct location_builder *builder,
						   const struct symbol_table *table,
						   uint64_t address);
