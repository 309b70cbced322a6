// SPDX-License-Identifier: Apache-2.0
/*
 * verify - checks that a file is a complete ELF file with the stated build id. Any thread.
 */
#pragma once

#include "elf/build_id.h"
#include "elf/debug_rank.h"

/*
 * Returns in ret_contents what debug information the file has. ERR_INVALID: it is not a complete
 * ELF file with that build id; ERR_LIMIT: its headers are beyond the limits, or it claims to unpack
 * to too much (elf_compression_check()). A file without a build id is accepted in two cases: `id`
 * is the file's own htlhash, or `is_stated` is true because an authorized client stated the id.
 */
bool verify_file(int fd, const struct build_id *id, bool is_stated,
		 struct debug_contents *ret_contents, struct err *err) MUST_CHECK;

/* The contents of a stored file, which was verified before it was stored. */
struct debug_contents verified_contents(int fd);
