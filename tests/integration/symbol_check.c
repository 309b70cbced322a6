// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_check - builds and queries symbol tables: run by tests/integration/test_symbols.py.
 *
 *     symbol_check build ELF TABLE [ALT [PACKAGE]]
 *     symbol_check find TABLE <ADDRESSES
 *
 * ALT is dwz's common file (- for none), and PACKAGE a .dwp file. Addresses are hexadecimal, one
 * per line. For each address it prints the source lines, innermost first, one per line: name, tab,
 * file, tab, line, tab, line of declaration, tab, the qualified name if there is no linkage name;
 * then an empty line.
 */
#include "symbols/symbol_build.h"
#include "symbols/symbol_table.h"

#include <fcntl.h>
#include <stdio.h>

static int fail(const char *path, const struct err *err)
{
	fprintf(stderr, "symbol_check: %s: %s\n", path, err->msg);
	return 1;
}

/* -2: there is no such file in the arguments. */
static int beside_open(const char *path)
{
	return path && strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC) : -2;
}

static int build(const char *elf, const char *table, const char *alt, const char *package)
{
	AUTO_FD elf_fd = open(elf, O_RDONLY | O_CLOEXEC);
	AUTO_FD alt_fd = beside_open(alt), package_fd = beside_open(package);
	AUTO_FD table_fd = open(table, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err err = { 0 };

	if (elf_fd < 0 || table_fd < 0 || alt_fd == -1 || package_fd == -1) {
		err_errno(&err, "open");
		return fail(elf, &err);
	}
	struct symbol_build_options options = { .alt_fd = alt_fd, .package_fd = package_fd };

	if (!symbol_build(&options, elf_fd, table_fd, &err))
		return fail(elf, &err);
	return 0;
}

static int find(const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	struct symbol_table table = { 0 };
	struct symbol_line lines[SYMBOL_LINES_MAX];
	struct err err = { 0 };
	char text[64];

	if (fd < 0 || !symbol_table_open(&table, fd, &err))
		return fail(path, &err);
	while (fgets(text, sizeof(text), stdin)) {
		uint64_t address;

		if (!str_hex_to_u64(str_trim(str_from(text)), &address))
			return 2;

		size_t count = symbol_table_find(&table, address, lines);

		for (size_t i = 0; i < count; i++)
			printf(STR_FMT "\t" STR_FMT "\t%u\t%u\t" STR_FMT "\n",
			       STR_ARG(lines[i].system_name), STR_ARG(lines[i].file), lines[i].line,
			       lines[i].start_line, STR_ARG(lines[i].name));
		printf("\n");
	}
	symbol_table_close(&table);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && str_eq(str_from(argv[1]), STR("build")))
		return build(argv[2], argv[3], argv[4], argc > 5 ? argv[5] : NULL);
	if (argc == 3 && str_eq(str_from(argv[1]), STR("find")))
		return find(argv[2]);
	fprintf(stderr,
		"symbol_check: build ELF TABLE [ALT [PACKAGE]], or find TABLE <ADDRESSES\n");
	return 2;
}
