// SPDX-License-Identifier: Apache-2.0
/*
 * mappings - the executable memory of one process: which file lies where.
 *
 * Sorted, never overlapping: a new mapping replaces what it covers, as mmap() does. That is why
 * nobody need tell of munmap(): code that is unmapped cannot run.
 */
#pragma once

#include "executable.h"

struct mapping {
	uint64_t start, end, file_offset;
	struct executable *executable; /* NULL: no file. The mapping holds a reference */
};

struct mappings {
	struct mapping *items;
	size_t len;
	size_t cap; /* private */
};

/* Takes over the reference. False: more than MAPPINGS_MAX, the mapping is not kept. */
bool mappings_insert(struct mappings *mappings, struct mapping mapping);

/* Whether it would take the place of another file's code. */
bool mappings_replaces_code(const struct mappings *mappings, const struct mapping *mapping);

const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address);

void mappings_copy(struct mappings *to, const struct mappings *from);
void mappings_done(struct mappings *mappings);
