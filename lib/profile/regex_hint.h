// SPDX-License-Identifier: Apache-2.0
/*
 * regex_hint - facts about all values that an anchored regular expression can match.
 *
 * They let a caller use an index: for a few values (`web|api`), for values with a common prefix
 * (`web-.*`), or for values that contain a text (`.*-canary-.*`). The parser is conservative: a
 * fact that is not obvious is left out, and each fact holds for every value that matches.
 */
#pragma once

#include "base/str.h"

struct regex_hint {
	const str *literals; /* each match is one of these; NULL: unknown */
	size_t literal_count;
	str prefix; /* each match begins with it; may be empty */
	str inside; /* each match contains it; may be empty */
};

/* The texts of the hint are in the arena. */
struct regex_hint regex_hint_of(str expression, struct arena *arena);

/*
 * A byte range that holds all texts that begin with the prefix: from `ret_first` to before
 * `ret_end`, both UTF-8. The range may hold other texts too. False: the prefix has no ASCII
 * character that can be incremented, so there is no such range.
 */
bool regex_hint_range(str prefix, struct arena *arena, str *ret_first, str *ret_end);
