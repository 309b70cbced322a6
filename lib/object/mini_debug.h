// SPDX-License-Identifier: Apache-2.0
/*
 * mini_debug - the small ELF file inside a stripped one that names its functions: .gnu_debugdata,
 * compressed with xz, as Fedora and others ship it.
 */
#pragma once

#include "object/elf_sections.h"

/*
 * The file inside, as a descriptor of memory that is the caller's to close; -1: there is none.
 * ERR_INVALID: it cannot be decompressed; ERR_LIMIT: it is larger than MINI_DEBUG_MAX.
 */
bool mini_debug_open(int fd, const struct elf_sections *sections, int *ret_fd,
		     struct err *err) MUST_CHECK;
