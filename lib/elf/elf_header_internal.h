// SPDX-License-Identifier: Apache-2.0
/*
 * elf_header - the header of an ELF file, and its entries for sections.
 *
 * The bytes come from a descriptor or from memory, and are read only within it. A descriptor is
 * read, not mapped: if the file shrinks meanwhile, a mapping would raise SIGBUS. Nothing is
 * allocated for a count that a file claims before it was compared with limits.h. Any thread.
 */
#pragma once

#include "base/err.h"
#include "base/reader.h"
#include "elf/elf_sections.h"

/* An ELF file: an image in memory or a descriptor. Both are borrowed. */
struct elf_source {
	bool is_image;
	str image;
	int fd;
};

struct elf_header {
	uint16_t type, machine;
	bool is_wide; /* a 64-bit file */
	uint64_t entry;
	uint64_t segments_offset, segment_size, segment_count;
	/* the counts are final after elf_header_count() */
	uint64_t sections_offset, section_size, section_count, names_index;
};

/*
 * Reads len bytes at the offset, into the arena. ERR_INVALID: the file ends before; ERR_IO: it
 * cannot be read.
 */
bool elf_source_read(const struct elf_source *source, uint64_t offset, size_t len,
		     struct arena *arena, str *ret_bytes, struct err *err) MUST_CHECK;

/* ERR_INVALID: not a little-endian ELF file; ERR_IO: it cannot be read. */
bool elf_header_read(const struct elf_source *source, struct arena *arena,
		     struct elf_header *ret_header, struct err *err) MUST_CHECK;

/*
 * Completes the counts: those that do not fit into the header are in the first, unused, section
 * header. Without section headers, section_count is 0. ERR_LIMIT: more than ELF_HEADERS_MAX;
 * ERR_INVALID: the section headers have another size, or the file ends before the first one;
 * ERR_IO: it cannot be read.
 */
bool elf_header_count(const struct elf_source *source, struct arena *arena,
		      struct elf_header *header, struct err *err) MUST_CHECK;

/* An address, an offset or a size: 64 or 32 bits, by the class of the file. */
static inline uint64_t elf_word(struct reader *r, bool is_wide)
{
	return is_wide ? reader_u64(r) : reader_u32(r);
}

/*
 * Parses a section header; the bytes are those of one entry. The name is not set: *ret_name is its
 * offset in the string table. *ret_info is sh_info.
 */
struct elf_section elf_section_parse(str bytes, bool is_wide, uint32_t *ret_name,
				     uint32_t *ret_info);
