// SPDX-License-Identifier: Apache-2.0
#include "profile/regex_hint.h"

#include "base/buf.h"
#include "base/vec.h"

#include <string.h>

/* Text that stands for itself, up to what does not. */
struct literal {
	struct buf text;
	size_t last; /* where its last character begins */
};

static bool is_punctuation(char c)
{
	return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
	       !(c >= 'a' && c <= 'z');
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* From `at` on; returns where it ends. A backslash before punctuation makes that stand for itself.
 */
static size_t read_literal(str expression, size_t at, struct literal *literal)
{
	while (at < expression.len) {
		char c = expression.ptr[at];

		if (c == '\\') {
			if (at + 1 == expression.len || !is_punctuation(expression.ptr[at + 1]))
				break;
			c = expression.ptr[++at];
		} else if (strchr("^$.[](){}?*+|", c)) {
			break;
		}
		if (!is_continuation(c))
			literal->last = literal->text.len;
		buf_u8(&literal->text, (uint8_t)c);
		at++;
	}
	return at;
}

static bool is_alternation(str expression, struct arena *arena, struct regex_hint *hint)
{
	VEC(str) found = { 0 };
	size_t at = 0;

	for (;;) {
		struct literal literal = { .text.arena = arena };

		at = read_literal(expression, at, &literal);
		*vec_push(arena, &found) = buf_bytes(&literal.text);
		if (at == expression.len)
			break;
		if (expression.ptr[at++] != '|')
			return false;
	}
	hint->literals = found.items;
	hint->literal_count = found.len;
	return true;
}

struct regex_hint regex_hint_of(str expression, struct arena *arena)
{
	struct regex_hint hint = { 0 };
	struct literal literal = { .text.arena = arena };

	if (is_alternation(expression, arena, &hint))
		return hint;
	/* An alternative may begin with something else, wherever it is. */
	for (size_t i = 0; i < expression.len; i++)
		if (expression.ptr[i] == '|')
			return hint;

	size_t end = read_literal(expression, 0, &literal);

	hint.prefix = buf_bytes(&literal.text);
	/* What follows may say how often the last character is there: not at all, maybe. */
	if (strchr("?*{", expression.ptr[end]))
		hint.prefix.len = literal.last;
	return hint;
}

bool regex_hint_range(str prefix, struct arena *arena, str *ret_first, str *ret_end)
{
	struct buf end = { .arena = arena };
	size_t len = prefix.len;

	/* The next character is one byte, too, as long as it is ASCII. */
	while (len && ((unsigned char)prefix.ptr[len - 1] >= 0x7f))
		len--;
	if (len == 0)
		return false;
	buf_str(&end, (str){ prefix.ptr, len - 1 });
	buf_u8(&end, (uint8_t)(prefix.ptr[len - 1] + 1));
	*ret_first = (str){ prefix.ptr, len };
	*ret_end = buf_bytes(&end);
	return true;
}
