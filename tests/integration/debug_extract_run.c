// SPDX-License-Identifier: Apache-2.0
/*
 * debug_extract_run IN OUT [PACKAGE] - writes the extract of a file, with a package of split DWARF,
 * and prints the rank of the extract.
 */
#include "elf/debug_extract.h"
#include "elf/debug_rank.h"

#include <fcntl.h>
#include <stdio.h>

enum { ROOM = 1 << 16 };

static bool copy(int to, const struct debug_extract *extract, struct err *err)
{
	char room[ROOM];
	size_t n;

	for (uint64_t at = 0; at < extract->size; at += n) {
		if (!debug_extract_read(extract, at, room, sizeof(room), &n, err))
			return false;
		if (write(to, room, n) != (ssize_t)n)
			return err_errno(err, "write");
	}
	return true;
}

int main(int argc, char **argv)
{
	AUTO_ARENA arena = { 0 };
	bool is_right = argc == 3 || argc == 4;
	AUTO_FD from = open(is_right ? argv[1] : "", O_RDONLY | O_CLOEXEC);
	AUTO_FD to = open(is_right ? argv[2] : "", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	AUTO_FD other = argc == 4 ? open(argv[3], O_RDONLY | O_CLOEXEC) : -1;
	struct elf_sections sections, written;
	struct debug_package package = { .fd = other };
	struct debug_extract extract;
	struct err err = { 0 };

	if (from < 0 || to < 0 || (argc == 4 && other < 0)) {
		fputs("debug_extract_run IN OUT [PACKAGE]\n", stderr);
		return 2;
	}
	if (!elf_sections_read(from, &arena, &sections, &err) ||
	    (other >= 0 && !elf_sections_read(other, &arena, &package.sections, &err)) ||
	    !debug_extract_plan(&extract, from, &sections, other < 0 ? NULL : &package, &arena,
				&err) ||
	    !copy(to, &extract, &err) || !elf_sections_read(to, &arena, &written, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	puts(debug_rank_names[debug_contents_of(to, &written).rank]);
	return 0;
}
