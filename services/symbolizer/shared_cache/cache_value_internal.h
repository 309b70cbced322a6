// SPDX-License-Identifier: Apache-2.0
/*
 * cache_value - the encoding of a symbolized address in Redis.
 *
 *     version (1 byte), number of lines, then for each line:
 *     system name, name, file, line, start line
 *
 * Numbers are varints, texts are prefixed with their length. The name is empty if it follows from
 * the system name. No lines: the address is known to have no symbol. Redis is untrusted: the
 * decoder checks all bounds, and a malformed value is a cache miss. One thread per arena.
 */
#pragma once

#include "symbolizer/tables/location_builder.h"

/* The bytes are in the arena. */
str cache_value_encode(const struct symbolized_location *location, struct arena *arena);

/* False: malformed, or of another version. The texts are copied into the builder's arena. */
bool cache_value_decode(str bytes, struct location_builder *builder,
			struct symbolized_location *ret_location);
