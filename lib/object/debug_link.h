// SPDX-License-Identifier: Apache-2.0
/*
 * debug_link - the two sections by which a file names another one that holds its debug info.
 *
 * .gnu_debuglink names the file that the program was stripped to, and its CRC. .gnu_debugaltlink
 * names what dwz moved out of several debug files into a common one, and that file's build id.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "object/limits.h"

struct debug_link {
	str name; /* no path */
	uint32_t crc;
};

struct debug_altlink {
	str path; /* absolute, or from the directory of the file that says so */
	str build_id;
};

/* The contents of such a section. False: it is malformed, or names nothing. */
bool debug_link_parse(str bytes, struct debug_link *ret_link) MUST_CHECK;
bool debug_altlink_parse(str bytes, struct debug_altlink *ret_link) MUST_CHECK;

/* The CRC that .gnu_debuglink means, of a whole file. */
bool debug_link_crc(int fd, uint32_t *ret_crc, struct err *err) MUST_CHECK;
