// SPDX-License-Identifier: Apache-2.0
/*
 * mappings - the executable mappings of one process: which file is mapped at which addresses.
 *
 * The mappings are sorted and never overlap: a new mapping replaces the ranges that it covers, as
 * mmap() does. munmap() events are not needed, because unmapped code cannot run. A zeroed struct is
 * valid and empty; mappings_done() frees it. Agent thread only.
 */
#pragma once

#include "agent/process/executable.h"

struct mapping {
	uint64_t start, end, file_offset; /* addresses [start, end) */
	struct executable *executable;    /* NULL: no file. The mapping owns a reference */
};

struct mappings {
	struct mapping *items;
	size_t len;
	size_t cap; /* private */
};

/* Inserts a mapping and takes ownership of its reference. False: the range is empty, or
 * MAPPINGS_MAX is reached; the mapping is not kept and its reference is released. */
bool mappings_insert(struct mappings *mappings, struct mapping mapping);

/* True if `mapping` has a file and overlaps a mapping of another file. Changes nothing. */
bool mappings_replaces_code(const struct mappings *mappings, const struct mapping *mapping);

/* True if both have the same files at the same addresses. */
bool mappings_equal(const struct mappings *a, const struct mappings *b);

/* The mapping that contains the address, or NULL. Valid until the next change. */
const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address);

/* Copies all mappings and adds a reference to each executable. `to` must be empty; its content is
 * overwritten. */
void mappings_copy(struct mappings *to, const struct mappings *from);

/* Releases all references and frees the memory. The struct is empty afterwards. */
void mappings_done(struct mappings *mappings);
