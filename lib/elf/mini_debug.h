// SPDX-License-Identifier: Apache-2.0
/*
 * mini_debug - decompresses .gnu_debugdata ("MiniDebugInfo"): a small ELF file inside a stripped
 * one, with the names of its functions, compressed with xz. Fedora and others ship it. Any thread.
 */
#pragma once

#include "elf/elf_sections.h"

/*
 * Decompresses the inner file into a memfd. The caller closes *ret_fd. True with -1: there is no
 * .gnu_debugdata. ERR_INVALID: .gnu_debugdata cannot be decompressed; ERR_LIMIT: it is larger than
 * MINI_DEBUG_MAX, compressed or decompressed; ERR_IO: the file cannot be read or the memfd cannot
 * be written. After a failure *ret_fd is -1.
 */
bool mini_debug_open(int fd, const struct elf_sections *sections, int *ret_fd,
		     struct err *err) MUST_CHECK;
