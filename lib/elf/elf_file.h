// SPDX-License-Identifier: Apache-2.0
/*
 * elf_file - the segments and the build id of an ELF file.
 *
 * elf_file_read() copies everything into the struct, so the file is not needed afterwards and may
 * be deleted. There is nothing to close. The file is untrusted input: reading it is bounded by
 * limits.h. Any thread.
 *
 *     struct elf_file elf;
 *     if (!elf_file_read(&elf, fd, err))
 *             return false;
 *     if (elf_file_address(elf.segments, elf.segment_count, file_offset, &address))
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "elf/limits.h"

/* A loaded segment: a PT_LOAD. */
struct elf_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* virtual address of its first byte, as linked */
	bool executable;
};

struct elf_file {
	uint16_t machine; /* EM_* */
	bool is_wide;     /* a 64-bit file */
	uint64_t entry;   /* address of the entry point; 0: none */
	bool has_interpreter;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	size_t segment_count;
	struct elf_segment unwind_header;     /* PT_GNU_EH_FRAME; size 0: absent */
	uint8_t build_id[BUILD_ID_BYTES_MAX]; /* of the GNU note */
	size_t build_id_len;                  /* 0: no build id */
};

/*
 * Reads the ELF file at fd. The caller keeps the descriptor. ERR_INVALID: not a little-endian ELF
 * file, truncated, or its headers are inconsistent; ERR_LIMIT: more than ELF_SEGMENTS_MAX segments
 * or ELF_HEADERS_MAX headers; ERR_IO: it cannot be read. After a failure *ret_elf is unchanged.
 */
bool elf_file_read(struct elf_file *ret_elf, int fd, struct err *err) MUST_CHECK;

/* Like elf_file_read(), for an image in memory, such as the vdso. The image is borrowed during the
 * call. */
bool elf_file_read_image(struct elf_file *ret_elf, str image, struct err *err) MUST_CHECK;

/*
 * Translates a file offset to the virtual address, as linked. False: no segment is loaded from
 * there. If several segments share the page, an executable one has precedence.
 */
bool elf_file_address(const struct elf_segment *segments, size_t count, uint64_t offset,
		      uint64_t *ret_address) MUST_CHECK;

/*
 * Translates a virtual address to a file offset. *ret_left is the number of bytes of the segment
 * from there on. False: no segment has bytes at that address.
 */
bool elf_file_offset(const struct elf_file *elf, uint64_t address, uint64_t *ret_offset,
		     uint64_t *ret_left) MUST_CHECK;
