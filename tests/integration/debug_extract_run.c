// SPDX-License-Identifier: Apache-2.0
/*
 * debug_extract_run IN OUT - writes the extract of a file, and prints its rank.
 */
#include "elf/debug_extract.h"
#include "elf/debug_rank.h"

#include <fcntl.h>
#include <stdio.h>

enum { ROOM = 1 << 16 };

static bool copy(int from, int to, const struct debug_extract *extract, struct err *err)
{
	char room[ROOM];
	size_t n;

	for (uint64_t at = 0; at < extract->size; at += n) {
		if (!debug_extract_read(extract, from, at, room, sizeof(room), &n, err))
			return false;
		if (write(to, room, n) != (ssize_t)n)
			return err_errno(err, "write");
	}
	return true;
}

int main(int argc, char **argv)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD from = open(argc == 3 ? argv[1] : "", O_RDONLY | O_CLOEXEC);
	AUTO_FD to = open(argc == 3 ? argv[2] : "", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct elf_sections sections;
	struct debug_extract extract;
	struct err err = { 0 };

	if (from < 0 || to < 0) {
		fputs("debug_extract_run IN OUT\n", stderr);
		return 2;
	}
	if (!elf_sections_read(from, &arena, &sections, &err) ||
	    !debug_extract_plan(&extract, from, &sections, &arena, &err) ||
	    !copy(from, to, &extract, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	puts(debug_rank_names[debug_contents_of(from, &sections).rank]);
	return 0;
}
