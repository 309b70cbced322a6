// SPDX-License-Identifier: Apache-2.0
/*
 * elf_compression - the header of a compressed debug section: SHF_COMPRESSED, or the old .zdebug_*.
 * Any thread.
 */
#pragma once

#include "elf/elf_sections.h"

enum { ELF_COMPRESSION_ZSTD = 2 /* ELFCOMPRESS_ZSTD, which elf.h does not know yet */ };

struct elf_compression {
	uint32_t type; /* ELFCOMPRESS_ZLIB, ELF_COMPRESSION_ZSTD; 0: malformed */
	uint64_t len;  /* of the decompressed contents, as the file claims */
};

/* Reads the header of the section; *bytes, its first bytes or all, becomes the bytes after the
 * header. False, with nothing changed: the section is not compressed. */
bool elf_compression_read(const struct elf_section *section, bool is_wide, str *bytes,
			  struct elf_compression *ret_compression);

/* Bounds what the sections of a file unpack to, all together, before any is unpacked. ERR_LIMIT:
 * they claim more than UNPACK_RATIO_MAX bytes for each byte of the file, and more than
 * UNPACK_FREE_BYTES; ERR_IO: the file cannot be read. */
bool elf_compression_check(int fd, const struct elf_sections *sections, struct err *err) MUST_CHECK;
