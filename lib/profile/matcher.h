// SPDX-License-Identifier: Apache-2.0
/*
 * matcher - one condition on a label's value: a text or a regular expression, or its negation.
 *
 * Regular expressions are PCRE2's, anchored at both ends as Prometheus' are, with match limits. An
 * absent label has the value "". One thread per matcher.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum matcher_op { MATCH_EQ, MATCH_NE, MATCH_RE, MATCH_NOT_RE, MATCH_OP_COUNT };

/* "=", "!=", "=~", "!~". */
extern const char *const matcher_op_names[MATCH_OP_COUNT];

struct matcher {
	enum matcher_op op;
	str name, value;
	/* private */
	bool matches_empty;
	struct pcre2_real_code_8 *code; /* code, match and limits: for MATCH_RE, MATCH_NOT_RE */
	struct pcre2_real_match_data_8 *match;
	struct pcre2_real_match_context_8 *limits;
};

/*
 * Name and value are borrowed until matcher_done(), which frees the compiled expression and accepts
 * a zeroed, failed or freed matcher. ERR_INVALID: not a regular expression. ERR_LIMIT: the
 * expression reaches a match limit on the empty text already.
 */
bool matcher_init(struct matcher *matcher, enum matcher_op op, str name, str value,
		  struct err *err) MUST_CHECK;
void matcher_done(struct matcher *matcher);

/* Match one value. ERR_LIMIT: the expression reached a match limit on this value; other values may
 * still be matched. MATCH_EQ and MATCH_NE cannot fail. */
bool matcher_matches(const struct matcher *matcher, str value, bool *ret_matches,
		     struct err *err) MUST_CHECK;

/* True if the empty value matches, so that the label may be absent. */
bool matcher_matches_empty(const struct matcher *matcher);
