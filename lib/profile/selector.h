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

#include "base/err.h"
#include "profile/labels.h"
#include "profile/limits.h"

enum matcher_op { MATCH_EQ, MATCH_NE, MATCH_RE, MATCH_NOT_RE, MATCH_OP_COUNT };

/* "=", "!=", "=~", "!~", by op. */
extern const char *const matcher_op_names[MATCH_OP_COUNT];

struct matcher {
	enum matcher_op op;
	str name, value;
	/* private */
	bool matches_empty;
	struct pcre2_real_code_8 *code; /* this and what follows: MATCH_RE, MATCH_NOT_RE */
	struct pcre2_real_match_data_8 *match;
	struct pcre2_real_match_context_8 *limits;
};

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

/* One matcher by itself. The texts are borrowed. ERR_INVALID: not a regular expression. */
bool matcher_init(struct matcher *matcher, enum matcher_op op, str name, str value,
		  struct err *err) MUST_CHECK;
void matcher_done(struct matcher *matcher);

/* ERR_LIMIT when an expression ran into its match limit on this value. One thread per matcher. */
bool matcher_matches(const struct matcher *matcher, str value, bool *ret_matches,
		     struct err *err) MUST_CHECK;

/* Whether the empty value matches: then the label may be absent. */
bool matcher_matches_empty(const struct matcher *matcher);
