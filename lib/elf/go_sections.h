// SPDX-License-Identifier: Apache-2.0
/*
 * go_sections - the sections of a Go program that its table of functions needs.
 *
 * The table is .gopclntab. A program that is position-independent has it in another section, and
 * the linkers of C before Go 1.26 make it a part of .data.rel.ro. Its addresses are relative to a
 * base that only the runtime's moduledata has, which is in the program's data. Before Go 1.26 the
 * trees of inlined calls are in .rodata. Any thread.
 */
#pragma once

#include "elf/elf_sections.h"

/* True if the file has the contents of Go's table and of the data with its moduledata. */
bool go_sections_are_complete(const struct elf_sections *sections);

/* True if the names of a Go program without DWARF need this section of the list. */
bool go_sections_need(const struct elf_sections *sections, const struct elf_section *section);
