// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_inflate - decompresses a debug section: zlib or zstd (SHF_COMPRESSED), or the old
 * .zdebug_*. One thread per arena.
 */
#pragma once

#include "elf/elf_sections.h"

/*
 * Decompresses the bytes of the section into the arena. If the section is not compressed,
 * *ret_contents borrows `bytes`. ERR_INVALID: unknown compression, or the data is corrupt;
 * ERR_LIMIT: the contents are larger than max bytes. After a failure *ret_contents is `bytes`.
 */
bool dwarf_inflate(const struct elf_section *section, bool is_wide, str bytes, uint64_t max,
		   struct arena *arena, str *ret_contents, struct err *err) MUST_CHECK;
