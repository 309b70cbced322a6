// SPDX-License-Identifier: Apache-2.0
/*
 * elf_file - what an ELF file says of itself: segments and build id.
 *
 * Everything is read when it is opened, within the limits of limits.h, so that nothing depends on
 * the file afterwards: it may be deleted, and it may have been made to deceive us.
 *
 *     struct elf_file elf = { 0 };
 *     if (!elf_file_open(&elf, path, err))
 *             return false;
 *     address = elf_file_address(&elf, file_offset)
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "object/limits.h"

/* What is loaded of the file: a PT_LOAD. */
struct elf_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* virtual address of its first byte, as linked */
	bool executable;
};

struct elf_file {
	uint16_t machine; /* EM_* */
	bool is_wide;     /* of 64 bits */
	uint64_t entry;   /* address where the program begins; 0: nowhere */
	bool has_interpreter;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	size_t segment_count;
	struct elf_segment unwind_header;     /* PT_GNU_EH_FRAME; of size 0: it has none */
	uint8_t build_id[BUILD_ID_BYTES_MAX]; /* GNU's */
	size_t build_id_len;                  /* 0: it has none */
};

/* ERR_INVALID: not an ELF file, or one that contradicts itself. The descriptor stays the caller's.
 */
bool elf_file_read(struct elf_file *ret_elf, int fd, struct err *err) MUST_CHECK;

/* An image in memory, such as the vdso. */
bool elf_file_read_image(struct elf_file *ret_elf, str image, struct err *err) MUST_CHECK;

/*
 * The virtual address, as linked, of the byte at this offset of the file. False where nothing is
 * loaded from there. An executable segment wins over others that share the page.
 */
bool elf_file_address(const struct elf_segment *segments, size_t count, uint64_t offset,
		      uint64_t *ret_address) MUST_CHECK;

/* Where in the file the byte of this address is, and how many bytes of its segment follow it. */
bool elf_file_offset(const struct elf_file *elf, uint64_t address, uint64_t *ret_offset,
		     uint64_t *ret_left) MUST_CHECK;
