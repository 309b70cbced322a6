// SPDX-License-Identifier: Apache-2.0
/*
 * debug_link - parses the two sections that refer to another file with debug information.
 *
 * .gnu_debuglink has the name and the CRC of the file that `strip` moved the debug information to.
 * .gnu_debugaltlink has the path and the build id of the file that dwz moved the common parts of
 * several debug files to. Parsed names borrow from the bytes of the section. Any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "elf/limits.h"

struct debug_link {
	str name; /* without a directory */
	uint32_t crc;
};

struct debug_altlink {
	str path;     /* absolute, or relative to the directory of the referring file */
	str build_id; /* bytes, not hexadecimal digits */
};

/* Parse the contents of the section. False, with *ret_link unchanged: malformed, or the name is
 * empty, too long (limits.h) or, for a debug link, contains a directory. */
bool debug_link_parse(str bytes, struct debug_link *ret_link) MUST_CHECK;
bool debug_altlink_parse(str bytes, struct debug_altlink *ret_link) MUST_CHECK;

/* Reads the whole file from offset 0 and returns its CRC, as .gnu_debuglink defines it. ERR_IO: the
 * file cannot be read. The caller keeps the descriptor. */
bool debug_link_crc(int fd, uint32_t *ret_crc, struct err *err) MUST_CHECK;
