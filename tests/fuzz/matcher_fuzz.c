// SPDX-License-Identifier: Apache-2.0
/*
 * matcher - any expression is compiled or refused, and no subject makes it run for long.
 */
#include "base/reader.h"
#include "profile/selector.h"

#include <assert.h>

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
	} else {
		/* Too many steps; or a recursion that only a subject shows to have no end. */
		assert((err.code == ERR_LIMIT || err.code == ERR_INVALID) && err.msg[0]);
	}
	matcher_done(&matcher);
	return 0;
}
