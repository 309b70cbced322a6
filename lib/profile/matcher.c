// SPDX-License-Identifier: Apache-2.0
/*
 * Expressions and values are untrusted, so the time and memory of a match are limited. Anchoring is
 * a compile option: a wrapper like ^(?:...)$ around the text can be escaped with `a)|(?:b`.
 */
#include "profile/matcher.h"

#include "profile/limits.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* A dot matches newlines too, as in Prometheus: `.*` matches any value. */
enum {
	REGEX_OPTIONS = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
			PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP
};

const char *const matcher_op_names[MATCH_OP_COUNT] = {
	[MATCH_EQ] = "=",
	[MATCH_NE] = "!=",
	[MATCH_RE] = "=~",
	[MATCH_NOT_RE] = "!~",
};

static bool set_error(int code, const char *doing, struct err *err)
{
	char why[160];
	bool limit = code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_DEPTHLIMIT ||
		     code == PCRE2_ERROR_HEAPLIMIT;

	pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof(why));
	return err_set(err, limit ? ERR_LIMIT : ERR_INVALID, "%s: %s", doing, why);
}

static bool compile(struct matcher *matcher, struct err *err)
{
	int code;
	size_t at;

	matcher->code = pcre2_compile(
		(PCRE2_SPTR)(matcher->value.len ? matcher->value.ptr : ""), matcher->value.len,
		(uint32_t)REGEX_OPTIONS | PCRE2_ANCHORED | PCRE2_ENDANCHORED, &code, &at, NULL);
	if (!matcher->code) {
		set_error(code, "regular expression", err);
		return err_wrap(err, "at its position %zu", at + 1);
	}
	matcher->match = pcre2_match_data_create(1, NULL);
	matcher->limits = pcre2_match_context_create(NULL);
	if (!matcher->match || !matcher->limits)
		return err_set(err, ERR_LIMIT, /* GCOVR_EXCL_LINE: no test makes malloc fail */
			       "out of memory for a regular expression");
	pcre2_set_match_limit(matcher->limits, REGEX_MATCH_MAX);
	pcre2_set_depth_limit(matcher->limits, REGEX_DEPTH_MAX);
	pcre2_set_heap_limit(matcher->limits, REGEX_HEAP_MAX_KIB);
	return true;
}

static bool regex_matches(const struct matcher *matcher, str value, bool *ret_matches,
			  struct err *err)
{
	int code = pcre2_match(matcher->code, (PCRE2_SPTR)(value.len ? value.ptr : ""), value.len,
			       0, 0, matcher->match, matcher->limits);

	if (code < 0 && code != PCRE2_ERROR_NOMATCH) {
		set_error(code, "regular expression", err);
		return err_wrap(err, "label " STR_FMT, STR_ARG(matcher->name));
	}
	*ret_matches = code >= 0;
	return true;
}

bool matcher_matches(const struct matcher *matcher, str value, bool *ret_matches, struct err *err)
{
	bool matches = false;

	switch (matcher->op) {
	case MATCH_EQ:
	case MATCH_NE:
		matches = str_eq(matcher->value, value);
		break;
	case MATCH_RE:
	case MATCH_NOT_RE:
		if (!regex_matches(matcher, value, &matches, err))
			return false;
		break;
	case MATCH_OP_COUNT: /* GCOVR_EXCL_LINE: no matcher has it */
		break;       /* GCOVR_EXCL_LINE: no matcher has it */
	}
	*ret_matches = matches != (matcher->op == MATCH_NE || matcher->op == MATCH_NOT_RE);
	return true;
}

bool matcher_matches_empty(const struct matcher *matcher)
{
	return matcher->matches_empty;
}

bool matcher_init(struct matcher *matcher, enum matcher_op op, str name, str value, struct err *err)
{
	*matcher = (struct matcher){ .op = op, .name = name, .value = value };
	if ((op == MATCH_RE || op == MATCH_NOT_RE) && !compile(matcher, err)) {
		matcher_done(matcher);
		return false;
	}
	if (!matcher_matches(matcher, (str){ 0 }, &matcher->matches_empty, err)) {
		matcher_done(matcher);
		return false;
	}
	return true;
}

void matcher_done(struct matcher *matcher)
{
	pcre2_code_free(matcher->code);
	pcre2_match_data_free(matcher->match);
	pcre2_match_context_free(matcher->limits);
	matcher->code = NULL;
	matcher->match = NULL;
	matcher->limits = NULL;
}
