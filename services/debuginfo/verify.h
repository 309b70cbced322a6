// SPDX-License-Identifier: Apache-2.0
/*
 * verify - whether a file is what it came as: an ELF file, whole, of that build id.
 */
#pragma once

#include "object/build_id.h"
#include "object/debug_rank.h"

/*
 * What the file at fd holds. ERR_INVALID: it is no such file. A file that carries no build id
 * passes under the htlhash that is its own, or where somebody who may do so stated the id.
 */
bool verify_file(int fd, const struct build_id *id, bool is_stated,
		 struct debug_contents *ret_contents, struct err *err) MUST_CHECK;

/* What a file holds that was verified when it came. */
struct debug_contents verified_contents(int fd);
