// SPDX-License-Identifier: Apache-2.0
/*
 * mappings - the executable mappings of one process: which file is mapped at which addresses.
 *
 * The mappings are sorted and never overlap: a new mapping replaces the ranges that it covers, as
 * mmap() does. munmap() events are not needed, because unmapped code cannot run.
 */
#pragma once

#include "agent/process/executable.h"

struct mapping {
	uint64_t start, end, file_offset;
	struct executable *executable; /* NULL: no file. The mapping owns a reference */
};

struct mappings {
	struct mapping *items;
	size_t len;
	size_t cap; /* private */
};

/* Inserts a mapping and takes ownership of its reference. False: empty, or MAPPINGS_MAX reached;
 * the mapping is not kept and its reference is released. */
bool mappings_insert(struct mappings *mappings, struct mapping mapping);

/* True if the mapping would replace code of another file. */
bool mappings_replaces_code(const struct mappings *mappings, const struct mapping *mapping);

/* The mapping that contains the address, or NULL. Valid until the next change. */
const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address);

/* `to` gets its own references; it must be empty. */
void mappings_copy(struct mappings *to, const struct mappings *from);
void mappings_done(struct mappings *mappings);
