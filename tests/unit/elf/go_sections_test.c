// SPDX-License-Identifier: Apache-2.0
#include "elf/go_sections.h"
#include "support/test.h"

#include <elf.h>

enum { SECTIONS_MAX = 8 };

struct made {
	struct elf_section items[SECTIONS_MAX];
	struct elf_sections sections;
};

/* Loaded sections with contents, from a list of names that ends with NULL. */
static void make(struct made *made, uint16_t type, const char *const *names)
{
	*made = (struct made){ .sections = { .items = made->items, .type = type } };
	for (size_t i = 0; names[i]; i++) {
		str name = str_from(names[i]);

		made->items[made->sections.len++] = (struct elf_section){
			.name = name,
			.type = str_starts_with(name, STR(".rela")) ? SHT_RELA : SHT_PROGBITS,
			.flags = SHF_ALLOC,
			.size = 8,
		};
	}
}

static void a_table_is_complete_with_the_programs_data(void **state)
{
	static const struct {
		const char *names[SECTIONS_MAX];
		bool is_complete;
	} rows[] = {
		{ { ".gopclntab", ".go.module" }, true },
		{ { ".gopclntab", ".noptrdata" }, true },
		{ { ".data.rel.ro.gopclntab", ".data" }, true },
		{ { ".data.rel.ro", ".go.buildinfo", ".noptrdata" }, true },
		{ { ".data.rel.ro", ".noptrdata" }, false },
		{ { ".gopclntab", ".rodata" }, false },
		{ { ".text", ".data" }, false },
	};
	struct made made;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		make(&made, ET_EXEC, rows[i].names);
		if (go_sections_are_complete(&made.sections) != rows[i].is_complete)
			fail_msg("row %zu", i);
	}
	make(&made, ET_EXEC, rows[0].names);
	made.items[1].type = SHT_NOBITS;
	assert_false(go_sections_are_complete(&made.sections));
}

static void needs_the_sections_that_have_the_addresses_and_the_trees(void **state)
{
	static const struct {
		const char *names[SECTIONS_MAX];
		uint16_t type;
		const char *needed; /* the sections that are needed, joined */
	} rows[] = {
		{ { ".gopclntab", ".go.module", ".rodata", ".data", ".rela.dyn" },
		  ET_EXEC,
		  ".gopclntab.go.module" },
		{ { ".gopclntab", ".go.module", ".rodata", ".rela.dyn" },
		  ET_DYN,
		  ".gopclntab.go.module.rela.dyn" },
		{ { ".gopclntab", ".noptrdata", ".rodata", ".data", ".text" },
		  ET_EXEC,
		  ".gopclntab.noptrdata.rodata" },
		{ { ".gopclntab", ".data", ".rodata" }, ET_EXEC, ".gopclntab.data.rodata" },
		{ { ".data.rel.ro", ".go.buildinfo", ".noptrdata", ".rodata" },
		  ET_DYN,
		  ".data.rel.ro.noptrdata.rodata" },
		{ { ".data.rel.ro.gopclntab", ".data.rel.ro", ".go.buildinfo", ".noptrdata" },
		  ET_DYN,
		  ".data.rel.ro.gopclntab.noptrdata" },
	};
	AUTO_ARENA arena = { 0 };
	struct made made;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		str needed = { 0 };

		make(&made, rows[i].type, rows[i].names);
		for (size_t k = 0; k < made.sections.len; k++)
			if (go_sections_need(&made.sections, &made.items[k]))
				needed = str_format(&arena, STR_FMT STR_FMT, STR_ARG(needed),
						    STR_ARG(made.items[k].name));
		assert_string_equal(str_z(&arena, needed), rows[i].needed);
	}
	make(&made, ET_EXEC, rows[0].names);
	made.items[0].flags = 0;
	assert_false(go_sections_need(&made.sections, &made.items[0]));
}

RUN_TESTS(TEST(a_table_is_complete_with_the_programs_data),
	  TEST(needs_the_sections_that_have_the_addresses_and_the_trees))
