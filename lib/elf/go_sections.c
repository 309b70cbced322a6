// SPDX-License-Identifier: Apache-2.0
#include "elf/go_sections.h"

#include <elf.h>

static bool has(const struct elf_sections *sections, const char *name)
{
	return elf_section_has_bytes(elf_sections_find(sections, str_from(name)));
}

static bool has_own_table(const struct elf_sections *sections)
{
	return has(sections, ".gopclntab") || has(sections, ".data.rel.ro.gopclntab");
}

static bool has_merged_table(const struct elf_sections *sections)
{
	return !has_own_table(sections) && has(sections, ".go.buildinfo") &&
	       has(sections, ".data.rel.ro");
}

bool go_sections_are_complete(const struct elf_sections *sections)
{
	return (has_own_table(sections) || has_merged_table(sections)) &&
	       (has(sections, ".go.module") || has(sections, ".noptrdata") ||
		has(sections, ".data"));
}

bool go_sections_need(const struct elf_sections *sections, const struct elf_section *section)
{
	str name = section->name;

	if (!(section->flags & SHF_ALLOC))
		return false;
	if (str_eq(name, STR(".gopclntab")) || str_eq(name, STR(".data.rel.ro.gopclntab")) ||
	    str_eq(name, STR(".go.module")))
		return true;
	if (section->type == SHT_RELA) /* they fill moduledata */
		return sections->type == ET_DYN;
	if (str_eq(name, STR(".data.rel.ro")))
		return has_merged_table(sections);
	if (has(sections, ".go.module")) /* its trees are in .gopclntab */
		return false;
	if (str_eq(name, STR(".data"))) /* if the linker merged .noptrdata into it */
		return !has(sections, ".noptrdata");
	return str_eq(name, STR(".noptrdata")) || str_eq(name, STR(".rodata"));
}
