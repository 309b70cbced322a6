// SPDX-License-Identifier: Apache-2.0
/*
 * selector - parses `process_cpu:cpu:nanoseconds:cpu:nanoseconds{comm="nginx",pod=~"web-.*"}`.
 *
 * The syntax is Prometheus' metric selector with a profile type instead of the metric. Without a
 * type it selects CPU time, so `{}` selects all CPU samples; `{__name__="TYPE"}` is accepted too. A
 * label name that is not an identifier is written in quotes. Matchers: profile/matcher.h.
 */
#pragma once

#include "profile/limits.h"
#include "profile/matcher.h"

struct selector {
	str text; /* the whole text */
	str type; /* a full five-part id */
	struct matcher matchers[MATCHERS_MAX];
	size_t matcher_count;
};

/*
 * All memory of the selector is in the arena, except compiled expressions, which selector_done()
 * frees; `text` is borrowed. ERR_INVALID: the text is malformed or too long. ERR_LIMIT: as
 * matcher_init(). After a failure the selector holds nothing; selector_done() accepts it, and a
 * zeroed or freed one. One thread.
 */
bool selector_parse(str text, struct arena *arena, struct selector *ret_selector,
		    struct err *err) MUST_CHECK;
void selector_done(struct selector *selector);
