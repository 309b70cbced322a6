// SPDX-License-Identifier: Apache-2.0
/*
 * name - addresses into the lines of a table, within the bounds of one answer.
 */
#pragma once

#include "base/map.h"
#include "object/symbol_table.h"
#include "profile/symbolize.h"

/* What one answer may still hold, and the names that stand in it already. */
struct location_builder {
	struct arena *arena;
	size_t lines_left, bytes_left;
	/* private */
	struct map functions; /* system name -> its demangled str */
	struct map texts;     /* paths, and names that are shown as they are -> the copy, a str */
};

void location_builder_init(struct location_builder *builder, struct arena *arena);

/* Innermost first. All texts are copied: what they are borrowed from may go. */
struct symbolized_location location_builder_add(struct location_builder *builder,
						const struct symbol_line *found, size_t count);
struct symbolized_location location_builder_lookup(struct location_builder *builder,
						   const struct symbol_table *table,
						   uint64_t address);
