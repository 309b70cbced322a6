// SPDX-License-Identifier: Apache-2.0
/*
 * answer_value - what is known of one address, as it stands in Redis.
 *
 *     version (1), number of lines, then of each: system name, name, file, line, start line
 *
 * The name is empty where the system name says it. Numbers are varints, texts have their length
 * before them. No lines: it is known that nothing is. What comes back may be anybody's: it is read
 * within bounds, and what is wrong with it is a miss.
 */
#pragma once

#include "location_builder.h"

str cache_value_encode(const struct symbolized_location *location, struct arena *arena);

/* False: no such value, or one of another version. */
bool cache_value_decode(str bytes, struct location_builder *builder,
			struct symbolized_location *ret_location);
