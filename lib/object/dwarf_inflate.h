// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_inflate - the contents of a compressed section.
 */
#pragma once

#include "object/elf_sections.h"

/*
 * The contents of a section whose bytes are these, in the arena, or the bytes themselves where it
 * is not compressed. ERR_LIMIT: more than max.
 */
bool dwarf_inflate(const struct elf_section *section, bool is_wide, str bytes, uint64_t max,
		   struct arena *arena, str *ret_contents, struct err *err) MUST_CHECK;
