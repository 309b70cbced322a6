// SPDX-License-Identifier: Apache-2.0
/*
 * regex_hint - what the text of a regular expression says of the values that it matches, anchored.
 *
 * So that an index can be asked: for a few values (`web|api`), for those with a beginning in common
 * (`web-.*`), or with some text anywhere (`.*-canary-.*`). What the text does not say plainly is
 * left unsaid; what is said holds for every value that matches.
 */
#pragma once

#include "base/str.h"

struct regex_hint {
	const str *literals; /* what matches is one of these; NULL: not said */
	size_t literal_count;
	str prefix; /* what matches begins with it; may be empty */
	str inside; /* what matches has it somewhere; may be empty */
};

/* The arena holds what the hint points to. */
struct regex_hint regex_hint_of(str expression, struct arena *arena);

/*
 * All texts that begin with the prefix are from `ret_first` to before `ret_end`, by bytes, both
 * UTF-8. There may be others between them. False: the prefix has no character to count on with.
 */
bool regex_hint_range(str prefix, struct arena *arena, str *ret_first, str *ret_end);
