// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_check - builds and prints unwind tables: run by tests/integration/test_unwind_rows.py.
 *
 *     unwind_check build ELF TABLE
 *     unwind_check rows TABLE
 *
 * Prints the rows of a table in order: address, kind of CFA, its register, offset and second
 * offset, kind and offset of the frame pointer, kind and offset of the return address.
 */
#include "base/str.h"
#include "unwind/unwind_build.h"
#include "unwind/unwind_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

static int fail(const char *path, const char *why, const struct err *err)
{
	fprintf(stderr, "unwind_check: %s: %s: %s\n", path, why, err->msg);
	return 1;
}

static int build(const char *elf, const char *table)
{
	AUTO_FD elf_fd = open(elf, O_RDONLY | O_CLOEXEC);
	AUTO_FD table_fd = open(table, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct unwind_build_result result;
	struct err err = { 0 };

	if (elf_fd < 0 || table_fd < 0) {
		err_errno(&err, "open");
		return fail(elf, "cannot be opened", &err);
	}
	if (!unwind_build(&(struct unwind_build_options){ 0 }, elf_fd, table_fd, &result, &err))
		return fail(elf, unwind_build_reason_names[result.reason], &err);
	printf("%ju rows, %ju rules, %ju bytes\n", (uintmax_t)result.rows, (uintmax_t)result.rules,
	       (uintmax_t)result.bytes);
	return 0;
}

static int rows(const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_file file = { 0 };
	struct err err = { 0 };

	if (fd < 0 || !unwind_file_open(&file, fd, &err))
		return fail(path, "cannot be opened", &err);
	for (uint64_t at = file.header->base, next; unwind_file_next(&file, at, &next); at = next) {
		struct unwind_rule rule = { .cfa = UNWIND_CFA_NONE };

		if (!unwind_file_find(&file, at, &rule))
			rule.cfa = UNWIND_CFA_NONE;
		printf("%" PRIx64 " %u %u %d %d %u %d %u %d\n", at, rule.cfa, rule.cfa_register,
		       rule.cfa_offset, rule.cfa_second, rule.frame_pointer,
		       rule.frame_pointer_offset, rule.return_address, rule.return_address_offset);
	}
	printf("%" PRIx64 " end\n", file.header->base + file.header->bytes);
	unwind_file_close(&file);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && str_eq(str_from(argv[1]), STR("build")))
		return build(argv[2], argv[3]);
	if (argc == 3 && str_eq(str_from(argv[1]), STR("rows")))
		return rows(argv[2]);
	fputs("usage: unwind_check build ELF TABLE | rows TABLE\n", stderr);
	return 2;
}
