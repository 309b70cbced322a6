// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_contexts - the namespaces and types that enclose an entry (DIE).
 *
 * A DWARF entry does not refer to its parent, and the name of a function is often in an entry of
 * another part of the tree. So the first lookup in a unit reads its whole tree once and stores the
 * begin and the end of each namespace, of each type, and of each function that contains one. Units
 * of languages without namespaces are not read.
 *
 * Everything is in the arena. Reading a tree stops when the arena exceeds memory_max, and adds its
 * work to *steps; the caller checks both. No function fails. One thread.
 */
#pragma once

#include "dwarf/dwarf_entry.h"

/* An open entry of the tree that is being read: more children may follow. */
struct dwarf_open {
	uint64_t at;
	uint32_t context;  /* the context of its children: number in the unit, from 1; 0: none */
	uint32_t function; /* enclosing function without a context: number in this list, from 1 */
	bool is_context;
};

struct dwarf_contexts {
	/* private */
	struct arena *arena;
	uint64_t memory_max;
	uint64_t *steps;
	struct map units; /* by address of the struct dwarf_unit */
	VEC(struct dwarf_open) open;
};

/* The arena and *steps are borrowed as long as the struct is used; there is nothing to free. */
void dwarf_contexts_init(struct dwarf_contexts *contexts, struct arena *arena, uint64_t memory_max,
			 uint64_t *steps);

/*
 * The qualifying prefix of the entry at this offset of .debug_info, such as
 * "app::(anonymous namespace)::Reader::". Empty: the entry is in no namespace or type, or that is
 * not known. If there are more than DWARF_CONTEXTS_MAX levels or DWARF_CONTEXT_BYTES_MAX bytes, the
 * outer levels are left out. The result is in the arena.
 */
str dwarf_contexts_of(struct dwarf_contexts *contexts, struct dwarf_file *file, uint64_t at);
