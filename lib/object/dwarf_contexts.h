// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_contexts - in which namespaces and types an entry stands.
 *
 * DWARF's entries know their children and not their parents, and a name is often asked for at an
 * entry that another one refers to. So the first question about a unit reads its tree once and
 * keeps where each namespace and type begins and ends, and the functions that hold one. Units of
 * languages without namespaces are not read.
 */
#pragma once

#include "dwarf_entry.h"

/* An entry of the tree that is being read and may have more children. */
struct dwarf_open {
	uint64_t at;
	uint32_t context;  /* of the unit's, numbered from 1: what its children are in; 0: none */
	uint32_t function; /* number in this list, from 1: a function around that is no context yet
			    */
	bool is_context;
};

struct dwarf_contexts {
	/* private */
	struct arena *arena;
	uint64_t memory_max;
	uint64_t *steps;
	struct map units; /* by their unit */
	VEC(struct dwarf_open) open;
};

void dwarf_contexts_init(struct dwarf_contexts *contexts, struct arena *arena, uint64_t memory_max,
			 uint64_t *steps);

/*
 * What is written before the name of what is declared at this place:
 * "app::(anonymous namespace)::Reader::"; empty: nothing is, or it is not known. Of more than
 * DWARF_CONTEXTS_MAX levels or DWARF_CONTEXT_BYTES_MAX bytes the outer ones are left out.
 */
str dwarf_contexts_of(struct dwarf_contexts *contexts, struct dwarf_file *file, uint64_t at);
