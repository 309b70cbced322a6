// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"
#include "profile/quoted_internal.h"

/* Escapes of one letter, as \n: the letter and its character. */
static const char simple_escapes[][2] = {
	{ 'a', '\a' }, { 'b', '\b' }, { 'f', '\f' },  { 'n', '\n' }, { 'r', '\r' },
	{ 't', '\t' }, { 'v', '\v' }, { '\\', '\\' }, { '"', '"' },  { '\'', '\'' },
};

/* Escapes with hex digits, as \x41: the letter, the number of digits, a byte or a character. */
static const struct {
	char letter;
	size_t digits;
	bool is_character;
} hex_escapes[] = { { 'x', 2, false }, { 'u', 4, true }, { 'U', 8, true } };

static void put_character(struct buf *out, uint64_t c)
{
	if (c < 0x80) {
		buf_u8(out, (uint8_t)c);
	} else if (c < 0x800) {
		buf_u8(out, (uint8_t)(0xc0 | c >> 6));
		buf_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_u8(out, (uint8_t)(0xe0 | c >> 12));
		buf_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		buf_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else {
		buf_u8(out, (uint8_t)(0xf0 | c >> 18));
		buf_u8(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		buf_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		buf_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
	}
}

static bool parse_hex(str *rest, char letter, struct buf *out, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(hex_escapes); i++) {
		size_t digits = hex_escapes[i].digits;
		uint64_t value;

		if (letter != hex_escapes[i].letter)
			continue;
		if (rest->len < digits || !str_hex_to_u64((str){ rest->ptr, digits }, &value))
			return err_set(err, ERR_INVALID, "expected %zu hex digits after \\%c",
				       digits, letter);
		if (value > 0x10ffff)
			return err_set(err, ERR_INVALID, "\\%c is not a valid character", letter);
		*rest = str_skip(*rest, digits);
		if (hex_escapes[i].is_character)
			put_character(out, value);
		else
			buf_u8(out, (uint8_t)value);
		return true;
	}
	return err_set(err, ERR_INVALID, "unknown escape \\%c", letter);
}

static bool parse_octal(str *rest, struct buf *out, struct err *err)
{
	unsigned int value = 0;

	for (size_t i = 0; i < 3; i++) {
		if (i >= rest->len || rest->ptr[i] < '0' || rest->ptr[i] > '7')
			return err_set(err, ERR_INVALID, "expected three octal digits after \\");
		value = value * 8 + (unsigned int)(rest->ptr[i] - '0');
	}
	if (value > 255)
		return err_set(err, ERR_INVALID, "octal escape beyond \\377");
	*rest = str_skip(*rest, 3);
	buf_u8(out, (uint8_t)value);
	return true;
}

/* After the backslash. */
static bool parse_escape(str *rest, struct buf *out, struct err *err)
{
	char letter = (char)(rest->len ? rest->ptr[0] : 0);

	if (letter >= '0' && letter <= '7')
		return parse_octal(rest, out, err);
	for (size_t i = 0; i < ARRAY_LEN(simple_escapes); i++) {
		if (letter == simple_escapes[i][0]) {
			buf_u8(out, (uint8_t)simple_escapes[i][1]);
			*rest = str_skip(*rest, 1);
			return true;
		}
	}
	if (letter < ' ' || letter > '~')
		return err_set(err, ERR_INVALID, "expected an escape after \\");
	*rest = str_skip(*rest, 1);
	return parse_hex(rest, letter, out, err);
}

bool quoted_parse(str *rest, struct arena *arena, str *ret_text, struct err *err)
{
	str begin = *rest;
	char quote = begin.ptr[0];
	struct buf out = { .arena = arena };

	for (*rest = str_skip(*rest, 1); rest->len && rest->ptr[0] != quote;) {
		char c = rest->ptr[0];

		if (c == '\n' && quote != '`')
			return err_set(err, ERR_INVALID, "expected %c before the end of the line",
				       quote);
		*rest = str_skip(*rest, 1);
		if (c != '\\' || quote == '`')
			buf_u8(&out, (uint8_t)c);
		else if (!parse_escape(rest, &out, err))
			return false;
	}
	if (rest->len == 0) {
		*rest = begin;
		return err_set(err, ERR_INVALID, "the text that begins here has no closing %c",
			       quote);
	}

	str text = buf_bytes(&out);

	if (!str_is_utf8(text) || (text.len && memchr(text.ptr, 0, text.len))) {
		*rest = begin;
		return err_set(err, ERR_INVALID,
			       "the text that begins here is not UTF-8 or has a "
			       "NUL in it");
	}
	*rest = str_skip(*rest, 1);
	*ret_text = text;
	return true;
}
