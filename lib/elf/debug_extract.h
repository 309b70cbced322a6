// SPDX-License-Identifier: Apache-2.0
/*
 * debug_extract - a virtual ELF file with only the parts of a given file that symbolization needs.
 *
 * It keeps DWARF, the symbol tables, .plt and its relocations, notes, .comment, the links to other
 * debug files, and Go's .gopclntab; of a Go program without DWARF also the data without which that
 * table has no addresses and no inlined calls (go_sections.h). If .dynsym is the only
 * symbol table and has functions without a size, the code is kept. The other sections keep their
 * headers, without contents (SHT_NOBITS), so that section indices and addresses stay valid. Program
 * headers stay too; a segment whose contents are left out gets file size 0.
 *
 * The entries of a program built with -gsplit-dwarf are in a package beside it (.dwp). Its sections
 * can be added, so that one file has all.
 *
 * The virtual file is never written to disk. It is a list of pieces: ranges of the given files and
 * new headers in memory. It can be read from any offset, and its memory is that of the headers. The
 * caller owns the descriptors and keeps them open while it reads. One thread per arena.
 *
 *     if (debug_extract_plan(&extract, fd, &sections, NULL, &arena, err))
 *             while (at < extract.size && debug_extract_read(&extract, at, room, cap, &n, err))
 */
#pragma once

#include "elf/elf_sections.h"

struct debug_piece {
	uint64_t at, size;  /* in the virtual file */
	uint64_t offset;    /* in the file at fd, if memory is NULL */
	const char *memory; /* the bytes, if they are not in a given file; else NULL */
	int fd;
};

/* A package of split DWARF, with its sections. */
struct debug_package {
	int fd;
	struct elf_sections sections;
};

struct debug_extract {
	uint64_t size;
	/* private; in the arena */
	struct debug_piece *pieces;
	size_t piece_count;
};

/*
 * Plans the virtual file of the ELF file at fd, whose sections elf_sections_read() has read, with
 * the .debug_ sections of `package` (NULL: none) after its own. The plan and its headers are in the
 * arena; the sections are borrowed during the call. ERR_INVALID: the headers are inconsistent, the
 * sections overlap, or the package is of another machine; ERR_LIMIT: more than DEBUG_SEGMENTS_MAX
 * program headers, a 32-bit file of more than 4 GB, or too many sections; ERR_IO: a file cannot be
 * read. After a failure *ret_extract is unchanged.
 */
bool debug_extract_plan(struct debug_extract *ret_extract, int fd,
			const struct elf_sections *sections, const struct debug_package *package,
			struct arena *arena, struct err *err) MUST_CHECK;

/*
 * Copies up to len bytes of the virtual file from offset `at` into `to`. *ret_len is less than len
 * only at the end of the virtual file, and 0 past the end. ERR_IO: a given file became shorter, or
 * cannot be read; the contents of `to` are then undefined.
 */
bool debug_extract_read(const struct debug_extract *extract, uint64_t at, char *to, size_t len,
			size_t *ret_len, struct err *err) MUST_CHECK;
