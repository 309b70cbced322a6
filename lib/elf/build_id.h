// SPDX-License-Identifier: Apache-2.0
/*
 * build_id - identifies a binary in URLs, in file names and in profiles. Any thread.
 *
 * It is either the hexadecimal digits of a GNU build id, or, for a binary without a build id,
 * "htlhash:" and the 32 digits of its hash (htlhash.h). A text that build_id_parse() accepted
 * contains only 0 to 9, a to f and that prefix, so it is safe as part of a path.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "elf/limits.h"

struct build_id {
	char text[2 * BUILD_ID_BYTES_MAX + 1]; /* lower case */
	bool is_hash;                          /* an htlhash */
};

/*
 * Accepts an even number of hexadecimal digits, for BUILD_ID_BYTES_MIN to BUILD_ID_BYTES_MAX bytes,
 * or an htlhash. Upper case is folded to lower case. The text is copied. ERR_INVALID, the only
 * code: any other text; *ret_id is unchanged.
 */
bool build_id_parse(str text, struct build_id *ret_id, struct err *err) MUST_CHECK;

/* True if these bytes, as an ELF note stores them, are this build id. False for an htlhash. */
bool build_id_is(const struct build_id *id, const uint8_t *bytes, size_t len);
