// SPDX-License-Identifier: Apache-2.0
/*
 * selector - `process_cpu:cpu:nanoseconds:cpu:nanoseconds{comm="nginx",pod=~"web-.*"}`.
 *
 * Prometheus' metric selector with a profile type in the metric's place. Without a type it asks for
 * CPU; `{}` is all CPU samples; `{__name__="TYPE"}` is accepted. A label whose name is not an
 * identifier is written in quotes. Regular expressions are anchored at both ends, as Prometheus'
 * are (PCRE2, with match limits). An absent label has the value "".
 */
#pragma once

#include "profile/limits.h"
#include "profile/matcher.h"

struct selector {
	str text; /* as it was parsed */
	str type; /* a full five-part id */
	struct matcher matchers[MATCHERS_MAX];
	size_t matcher_count;
};

/*
 * Everything the selector points to is in the arena, but for compiled expressions: selector_done()
 * frees them. ERR_INVALID names the position and what was expected there.
 */
bool selector_parse(str text, struct arena *arena, struct selector *ret_selector,
		    struct err *err) MUST_CHECK;
void selector_done(struct selector *selector);
