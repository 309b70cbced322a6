// SPDX-License-Identifier: Apache-2.0
#include "profile/selector.h"

#include "profile/profile_type.h"
#include "profile/quoted_internal.h"

/* `rest` always begins at the position that an error message must name. */
struct parser {
	str text, rest;
	struct arena *arena;
	struct selector *selector;
	bool has_type;
};

static bool fail(const struct parser *parser, struct err *err)
{
	return err_wrap(err, "selector, position %zu", parser->text.len - parser->rest.len + 1);
}

static bool expected(const struct parser *parser, const char *what, struct err *err)
{
	if (parser->rest.len == 0)
		err_set(err, ERR_INVALID, "expected %s, found the end", what);
	else if ((unsigned char)parser->rest.ptr[0] < ' ' || parser->rest.ptr[0] > '~')
		err_set(err, ERR_INVALID, "expected %s", what);
	else
		err_set(err, ERR_INVALID, "expected %s, found '%c'", what, parser->rest.ptr[0]);
	return fail(parser, err);
}

static void skip_space(struct parser *parser)
{
	str *rest = &parser->rest;

	while (rest->len && (rest->ptr[0] == ' ' || (rest->ptr[0] >= '\t' && rest->ptr[0] <= '\r')))
		*rest = str_skip(*rest, 1);
}

static bool next_is(const struct parser *parser, char c)
{
	return parser->rest.len && parser->rest.ptr[0] == c;
}

static bool accept_char(struct parser *parser, char c)
{
	if (!next_is(parser, c))
		return false;
	parser->rest = str_skip(parser->rest, 1);
	skip_space(parser);
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* An identifier, which may also have the characters in `more`. Empty: there is none here. */
static str parse_word(struct parser *parser, const char *more)
{
	str word = { parser->rest.ptr, 0 };

	while (word.len < parser->rest.len) {
		char c = parser->rest.ptr[word.len];
		bool fits = is_letter(c) || (word.len && is_digit(c)) || (c && strchr(more, c));

		if (!fits)
			break;
		word.len++;
	}
	parser->rest = str_skip(parser->rest, word.len);
	return word;
}

/* An error is reported at `where`, a position before the parser's. */
static bool set_type(struct parser *parser, str where, str type, struct err *err)
{
	parser->rest = parser->has_type ? where : parser->rest;
	if (parser->has_type) {
		err_set(err, ERR_INVALID, "the profile type is given twice");
		return fail(parser, err);
	}

	str rest = parser->rest;

	parser->rest = where;
	if (!profile_type_parse(type, &parser->selector->type, err))
		return fail(parser, err);
	parser->rest = rest;
	parser->has_type = true;
	return true;
}

static bool parse_op(struct parser *parser, enum matcher_op *ret_op, struct err *err)
{
	/* Longer ones first. */
	static const enum matcher_op order[] = { MATCH_NE, MATCH_RE, MATCH_NOT_RE, MATCH_EQ };

	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		str name = str_from(matcher_op_names[order[i]]);

		if (str_starts_with(parser->rest, name)) {
			parser->rest = str_skip(parser->rest, name.len);
			skip_space(parser);
			*ret_op = order[i];
			return true;
		}
	}
	return expected(parser, "=, !=, =~ or !~", err);
}

static bool at_quote(const struct parser *parser)
{
	return next_is(parser, '"') || next_is(parser, '\'') || next_is(parser, '`');
}

static bool parse_quoted(struct parser *parser, str *ret_text, struct err *err)
{
	if (!quoted_parse(&parser->rest, parser->arena, ret_text, err))
		return fail(parser, err);
	skip_space(parser);
	return true;
}

static bool parse_label_name(struct parser *parser, str *ret_name, struct err *err)
{
	str name;

	if (at_quote(parser)) {
		str where = parser->rest;

		if (!parse_quoted(parser, &name, err))
			return false;
		if (name.len == 0) {
			parser->rest = where;
			return expected(parser, "a label name that is not empty", err);
		}
	} else {
		name = parse_word(parser, "");
		if (name.len == 0)
			return expected(parser, "a label name or }", err);
		name = str_copy(parser->arena, name);
		skip_space(parser);
	}
	*ret_name = name;
	return true;
}

static bool parse_matcher(struct parser *parser, struct err *err)
{
	struct selector *selector = parser->selector;
	str where = parser->rest, name = { 0 }, value = { 0 };
	enum matcher_op op = MATCH_EQ;

	if (selector->matcher_count == MATCHERS_MAX) {
		err_set(err, ERR_INVALID, "more than %d matchers", MATCHERS_MAX);
		return fail(parser, err);
	}
	if (!parse_label_name(parser, &name, err) || !parse_op(parser, &op, err))
		return false;
	if (!at_quote(parser))
		return expected(parser, "a value in quotes", err);

	str value_at = parser->rest;

	if (!parse_quoted(parser, &value, err))
		return false;
	if (str_eq(name, STR("__name__"))) {
		if (op == MATCH_EQ)
			return set_type(parser, value_at, value, err);
		parser->rest = where;
		err_set(err, ERR_INVALID, "the profile type can only be compared with =");
		return fail(parser, err);
	}
	if (!matcher_init(&selector->matchers[selector->matcher_count], op, name, value, err)) {
		parser->rest = value_at;
		return fail(parser, err);
	}
	selector->matcher_count++;
	return true;
}

/* After the opening brace. */
static bool parse_matchers(struct parser *parser, struct err *err)
{
	while (!accept_char(parser, '}')) {
		if (!parse_matcher(parser, err))
			return false;
		if (!accept_char(parser, ',') && !next_is(parser, '}'))
			return expected(parser, ", or }", err);
	}
	return true;
}

static bool parse(struct parser *parser, struct err *err)
{
	skip_space(parser);

	str where = parser->rest;
	/* Types of other producers may have more characters than identifiers. */
	str type = parse_word(parser, ":.-/");
	bool opened;

	skip_space(parser);
	opened = accept_char(parser, '{');
	if (type.len == 0 && !opened)
		return expected(parser, "a profile type or {", err);
	if (type.len && !set_type(parser, where, str_copy(parser->arena, type), err))
		return false;
	if (opened && !parse_matchers(parser, err))
		return false;
	if (parser->rest.len)
		return expected(parser, opened ? "nothing after }" : "{ or nothing more", err);
	return true;
}

bool selector_parse(str text, struct arena *arena, struct selector *ret_selector, struct err *err)
{
	*ret_selector = (struct selector){ .text = text, .type = STR(PROFILE_TYPE_CPU) };

	struct parser parser = { .text = text, .rest = text, .arena = arena };

	parser.selector = ret_selector;
	if (text.len > SELECTOR_MAX)
		return err_set(err, ERR_INVALID, "selector of %zu bytes, limit %d", text.len,
			       SELECTOR_MAX);
	if (!str_is_utf8(text))
		return err_set(err, ERR_INVALID, "selector is not UTF-8");
	if (parse(&parser, err))
		return true;
	selector_done(ret_selector);
	return false;
}

void selector_done(struct selector *selector)
{
	for (size_t i = 0; i < selector->matcher_count; i++)
		matcher_done(&selector->matchers[i]);
	selector->matcher_count = 0;
}
