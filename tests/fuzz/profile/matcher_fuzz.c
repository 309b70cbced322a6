// SPDX-License-Identifier: Apache-2.0
/*
 * matcher - any expression is compiled or rejected, and no subject makes it run for long. Its
 * regex_hint holds for every match.
 */
#include "base/reader.h"
#include "profile/regex_hint.h"
#include "profile/selector.h"

#include <assert.h>

static bool is_in_range(str prefix, str subject, struct arena *arena)
{
	str first, end;

	return !regex_hint_range(prefix, arena, &first, &end) ||
	       (str_compare(subject, first) >= 0 && str_compare(subject, end) < 0);
}

static void check_hint(str expression, str subject)
{
	AUTO_ARENA arena = { 0 };
	struct regex_hint hint = regex_hint_of(expression, &arena);
	bool found = !hint.literals;

	for (size_t i = 0; i < hint.literal_count; i++)
		found = found || str_eq(hint.literals[i], subject);
	assert(found && str_starts_with(subject, hint.prefix));
	assert(hint.inside.len == 0 || str_find(subject, hint.inside) != SIZE_MAX);
	assert(is_in_range(hint.prefix, subject, &arena));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = reader_of((str){ (const char *)data, size });
	enum matcher_op op = reader_u8(&r) % MATCH_OP_COUNT;
	str expression = reader_str_prefixed(&r);
	str subject = reader_bytes(&r, reader_left(&r));
	struct matcher matcher = { 0 };
	struct err err = { 0 };
	bool matches, again;

	/* As selector_parse() and PostgreSQL's UTF-8 columns promise. */
	if (r.failed || !str_is_utf8(expression) || !str_is_utf8(subject) ||
	    str_find(expression, STR("\0")) != SIZE_MAX || str_find(subject, STR("\0")) != SIZE_MAX)
		return 0;
	if (!matcher_init(&matcher, op, STR("comm"), expression, &err)) {
		assert(err.code == ERR_INVALID && err.msg[0] && op >= MATCH_RE);
		return 0;
	}
	if (matcher_matches(&matcher, subject, &matches, &err)) {
		assert(op != MATCH_EQ || matches == str_eq(expression, subject));
		assert(op != MATCH_NE || matches != str_eq(expression, subject));
		assert(matcher_matches(&matcher, subject, &again, &err) && again == matches);
		if (op == MATCH_RE && matches)
			check_hint(expression, subject);
	} else {
		/* Too many steps; or a recursion that only a subject shows to have no end. */
		assert((err.code == ERR_LIMIT || err.code == ERR_INVALID) && err.msg[0]);
	}
	matcher_done(&matcher);
	return 0;
}
