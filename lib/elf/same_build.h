// SPDX-License-Identifier: Apache-2.0
/*
 * same_build - whether two ELF files can be of one build: the linked program, or a file with its
 * debug info.
 *
 * Files of one build have the same sections in memory, and each function of the file with less
 * debug info is a function of the other one. A file that was made to deceive can agree, too, so
 * agreement proves nothing. Any thread.
 */
#pragma once

#include "base/err.h"

/*
 * Compares all sections that are loaded, by name, address and size, and the functions that `less`
 * names in .symtab, or in .dynsym, with those of `more`, by address and name without its version
 * ("@..."). A file without sections, or without symbols, contradicts nothing in that respect.
 * ERR_INVALID: the files contradict each other; the message says where. ERR_LIMIT: symbol tables of
 * more than SAME_BUILD_SYMBOLS_MAX bytes are not compared. Other codes as elf_sections_read(). The
 * descriptors stay the caller's.
 */
bool same_build_check(int less, int more, struct err *err) MUST_CHECK;
