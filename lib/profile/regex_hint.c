// SPDX-License-Identifier: Apache-2.0
#include "profile/regex_hint.h"

#include "base/buf.h"
#include "base/vec.h"

#include <string.h>

/* A literal text within an expression. */
struct literal {
	struct buf text;
	size_t last; /* where the last character of the text begins */
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

/* Read the literal at `at`; returns its end. A backslash makes a punctuation character literal. */
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

enum { UNCLEAR = -1 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char char_at(str expression, size_t at)
{
	if (at >= expression.len)
		return '\0';
	return expression.ptr[at];
}

/* The end of a repetition `{2}` or `{2,5}`. */
static ssize_t braces_end(str expression, size_t at)
{
	size_t first = ++at;

	while (is_digit(char_at(expression, at)))
		at++;
	if (at == first)
		return UNCLEAR;
	if (char_at(expression, at) == ',')
		at++;
	while (is_digit(char_at(expression, at)))
		at++;
	return char_at(expression, at) == '}' ? (ssize_t)at + 1 : UNCLEAR;
}

/* The end of a quantifier at `at`; `at` itself if there is none. */
static ssize_t repeat_end(str expression, size_t at)
{
	ssize_t end = (ssize_t)at;
	char c = char_at(expression, at);

	if (c == '?' || c == '*' || c == '+')
		end++;
	else if (c == '{')
		end = braces_end(expression, at);
	if (end > (ssize_t)at && strchr("?+", char_at(expression, (size_t)end)) &&
	    (size_t)end < expression.len)
		end++;
	return end;
}

/* The end of a character class like `[a-z]`; UNCLEAR: a more complex class. */
static ssize_t class_end(str expression, size_t at)
{
	at++;
	if (char_at(expression, at) == '^')
		at++;
	if (char_at(expression, at) == ']')
		return UNCLEAR;
	for (; at < expression.len; at++) {
		char c = expression.ptr[at];

		if (c == '[' || c == '\\')
			return UNCLEAR;
		if (c == ']')
			return (ssize_t)at + 1;
	}
	return UNCLEAR;
}

/* The end of one item that is not literal: `.`, `\d`, a class. */
static ssize_t other_end(str expression, size_t at)
{
	char c = char_at(expression, at), next = char_at(expression, at + 1);

	if (c == '.' || c == '^' || c == '$')
		return (ssize_t)at + 1;
	if (c == '\\' && next && strchr("dDsSwW", next))
		return (ssize_t)at + 2;
	return c == '[' ? class_end(expression, at) : UNCLEAR;
}

/*
 * True if the last character of the literal that ends at `at` must be in each match. A quantifier
 * may follow, even behind something that PCRE removes, as a comment or a lone \\E.
 */
static bool is_certain(str expression, size_t at)
{
	char c = char_at(expression, at), next = char_at(expression, at + 1);

	switch (c) {
	case '?':
	case '*':
	case '{':
		return false;
	case '\\':
		return next && strchr("dDsSwW", next);
	case '(':
		return next != '?' && next != '*';
	default:
		return true;
	}
}

/* The longest literal in each match, up to the first unclear item: a group may be optional. */
static str text_inside(str expression, struct arena *arena)
{
	str longest = { 0 };
	size_t at = 0;

	while (at < expression.len) {
		struct literal literal = { .text.arena = arena };

		at = read_literal(expression, at, &literal);

		ssize_t end = repeat_end(expression, at);
		str text = buf_bytes(&literal.text);

		if (!is_certain(expression, at))
			text.len = literal.last;
		if (text.len > longest.len)
			longest = text;
		if (end == (ssize_t)at) {
			end = other_end(expression, at);
			end = end == UNCLEAR ? UNCLEAR : repeat_end(expression, (size_t)end);
		}
		if (end == UNCLEAR)
			break;
		at = (size_t)end;
	}
	return longest;
}

struct regex_hint regex_hint_of(str expression, struct arena *arena)
{
	struct regex_hint hint = { 0 };
	struct literal literal = { .text.arena = arena };

	if (is_alternation(expression, arena, &hint))
		return hint;
	/* Another alternative may have another prefix, wherever the `|` is. */
	for (size_t i = 0; i < expression.len; i++)
		if (expression.ptr[i] == '|')
			return hint;

	size_t end = read_literal(expression, 0, &literal);

	hint.prefix = buf_bytes(&literal.text);
	if (!is_certain(expression, end))
		hint.prefix.len = literal.last;
	hint.inside = text_inside(expression, arena);
	return hint;
}

bool regex_hint_range(str prefix, struct arena *arena, str *ret_first, str *ret_end)
{
	struct buf end = { .arena = arena };
	size_t len = prefix.len;

	/* The last character must be below 0x7f, so that the next one is one byte too. */
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
