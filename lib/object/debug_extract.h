// SPDX-License-Identifier: Apache-2.0
/*
 * debug_extract - what of an ELF file tells names, as a file of its own that is never written.
 *
 * Kept are DWARF, the tables of symbols, Go's table of lines, .plt and its relocations, notes,
 * .comment and what leads to other debug files. The other sections stay as headers without
 * contents, so that indices and addresses hold; program headers stay, and say that nothing of the
 * rest is in the file. It is a list of pieces of the given file and of new headers, which can be
 * read from any place: it takes no room on a disk, and no more memory than the headers do.
 *
 *     if (debug_extract_plan(&extract, fd, &sections, &arena, err))
 *             while (at < extract.size && debug_extract_read(&extract, fd, at, room, cap, &n, err))
 */
#pragma once

#include "object/elf_sections.h"

struct debug_piece {
	uint64_t at, size;  /* in the new file */
	uint64_t offset;    /* in the given one, if there are */
	const char *memory; /* no such bytes */
};

struct debug_extract {
	uint64_t size;
	/* private; in the arena */
	struct debug_piece *pieces;
	size_t piece_count;
};

/* ERR_INVALID: not the ELF file whose sections these are, or one whose sections overlap. */
bool debug_extract_plan(struct debug_extract *ret_extract, int fd,
			const struct elf_sections *sections, struct arena *arena,
			struct err *err) MUST_CHECK;

/*
 * Up to len bytes of the new file from `at` on; fewer only at its end, none behind it. ERR_IO: the
 * given file has become shorter.
 */
bool debug_extract_read(const struct debug_extract *extract, int fd, uint64_t at, char *to,
			size_t len, size_t *ret_len, struct err *err) MUST_CHECK;
