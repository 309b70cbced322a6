// SPDX-License-Identifier: Apache-2.0
/*
 * build_id - the name of a binary, as it stands in URLs, in file names and in profiles.
 *
 * Either the hexadecimal digits of a GNU build id, or "htlhash:" and the 32 digits of the hash of a
 * binary that has none (htlhash.h). What build_id_parse() accepts holds nothing but digits, a to f
 * and that prefix, so it may become part of a path.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "object/limits.h"

struct build_id {
	char text[2 * BUILD_ID_BYTES_MAX + 1]; /* lower case */
	bool is_hash;                          /* an htlhash */
};

/* An even number of hexadecimal digits, for BUILD_ID_BYTES_MIN to _MAX bytes; or an htlhash. */
bool build_id_parse(str text, struct build_id *ret_id, struct err *err) MUST_CHECK;

/* Whether a build id's bytes, as they stand in a file, are this one. */
bool build_id_is(const struct build_id *id, const uint8_t *bytes, size_t len);
