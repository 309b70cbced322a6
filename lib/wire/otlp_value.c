// SPDX-License-Identifier: Apache-2.0
#include "profile/limits.h"
#include "wire/otlp_dictionary_internal.h"
#include "wire/otlp_value_internal.h"

#include <inttypes.h>

enum { TEXT_ROOM = LABEL_VALUE_MAX + 8 };

/* AnyValue's fields. */
enum {
	VALUE_STRING = 1,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_DOUBLE,
	VALUE_ARRAY,
	VALUE_KVLIST,
	VALUE_BYTES,
	VALUE_STRINDEX,
};

/* The text of a value being written. Nested values are JSON. */
struct text {
	struct buf out;
	bool too_deep;
};

static bool text_is_plain(str text)
{
	const uint64_t highs = UINT64_C(0x8080808080808080), ones = UINT64_C(0x0101010101010101);

	while (text.len >= sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, text.ptr, sizeof(word));
		if ((word | (word - ones)) & highs) /* not ASCII, or maybe a NUL */
			return false;
		text = str_skip(text, sizeof(word));
	}
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] <= 0)
			return false;
	return true;
}

bool otlp_text_check(struct otlp_decoder *decoder, str text)
{
	if (text.len == 0 || text_is_plain(text))
		return true;
	if (memchr(text.ptr, 0, text.len))
		return otlp_reject(decoder, OTLP_TEXT, "text with a NUL in it");
	if (!str_is_utf8(text))
		return otlp_reject(decoder, OTLP_TEXT, "text that is not UTF-8");
	return true;
}

static void json_string(struct buf *out, str text)
{
	buf_u8(out, '"');
	for (size_t i = 0; i < text.len && out->len < TEXT_ROOM; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c == '"' || c == '\\')
			buf_format(out, "\\%c", c);
		else if (c < 0x20)
			buf_format(out, "\\u%04x", c);
		else
			buf_u8(out, c);
	}
	buf_u8(out, '"');
}

static void string_write(struct text *text, str string, int depth)
{
	if (depth)
		json_string(&text->out, string);
	else if (string.len > TEXT_ROOM) /* many attributes may share it: do not copy it all */
		buf_str(&text->out, (str){ string.ptr, TEXT_ROOM });
	else
		buf_str(&text->out, string);
}

static bool value_write(struct otlp_decoder *decoder, struct text *text, str any_value, int depth);

static bool array_write(struct otlp_decoder *decoder, struct text *text, str array, int depth)
{
	struct reader r = reader_of(array);
	struct field field = { 0 };
	bool is_first = true;

	buf_u8(&text->out, '[');
	while (text->out.len < TEXT_ROOM && field_next(&r, &field)) {
		if (field.number != 1)
			continue;
		if (!field_fits(&field, STR("l")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "an element of an array has a wrong wire type");
		if (!is_first)
			buf_u8(&text->out, ',');
		is_first = false;
		if (!value_write(decoder, text, field.bytes, depth + 1))
			return false;
	}
	buf_u8(&text->out, ']');
	return otlp_end_check(decoder, &r, &field);
}

bool otlp_key_value(struct otlp_decoder *decoder, str bytes, str *ret_name, str *ret_value)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	str name = { 0 }, value = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("llv")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "field %" PRIu64
					   " of an attribute has a wrong wire type",
					   field.number);
		if (field.number == 1) {
			name = field.bytes;
			if (!otlp_text_check(decoder, name))
				return false;
		} else if (field.number == 2) {
			value = field.bytes;
		} else if (field.number == 3 && field.value &&
			   !otlp_entry(decoder, OTLP_STRINGS, field.value, &name)) {
			return false;
		}
	}
	*ret_name = name;
	*ret_value = value;
	return otlp_end_check(decoder, &r, &field);
}

static bool kvlist_write(struct otlp_decoder *decoder, struct text *text, str list, int depth)
{
	struct reader r = reader_of(list);
	struct field field = { 0 };
	bool is_first = true;
	str name, value;

	buf_u8(&text->out, '{');
	while (text->out.len < TEXT_ROOM && field_next(&r, &field)) {
		if (field.number != 1)
			continue;
		if (!field_fits(&field, STR("l")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "an element of a list has a wrong wire type");
		if (!otlp_key_value(decoder, field.bytes, &name, &value))
			return false;
		if (!is_first)
			buf_u8(&text->out, ',');
		is_first = false;
		json_string(&text->out, name);
		buf_u8(&text->out, ':');
		if (!value_write(decoder, text, value, depth + 1))
			return false;
	}
	buf_u8(&text->out, '}');
	return otlp_end_check(decoder, &r, &field);
}

static void bytes_write(struct text *text, str bytes, int depth)
{
	struct arena *arena = text->out.arena;

	if (bytes.len > LABEL_VALUE_MAX)
		bytes.len = LABEL_VALUE_MAX;
	string_write(text, str_hex(arena, bytes), depth);
}

static void double_write(struct text *text, uint64_t bits)
{
	double number;

	memcpy(&number, &bits, sizeof(number));
	buf_format(&text->out, "%.15g", number); /* so that 0.1 stays 0.1 */
}

/* As in protobuf, the last field of the oneof on the wire is the value. */
static bool value_write(struct otlp_decoder *decoder, struct text *text, str any_value, int depth)
{
	struct reader r = reader_of(any_value);
	struct field field = { 0 }, last = { 0 };
	str string;

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("lvv8lllv")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field of an attribute's value has a wrong wire type");
		if (field.number <= VALUE_STRINDEX)
			last = field;
	}
	if (!otlp_end_check(decoder, &r, &field))
		return false;
	if (depth > VALUE_DEPTH_MAX) {
		text->too_deep = true;
		return true;
	}
	switch (last.number) {
	case VALUE_STRING:
		string_write(text, last.bytes, depth);
		return otlp_text_check(decoder, last.bytes);
	case VALUE_BOOL:
		buf_str(&text->out, last.value ? STR("true") : STR("false"));
		return true;
	case VALUE_INT:
		buf_format(&text->out, "%" PRId64, (int64_t)last.value);
		return true;
	case VALUE_DOUBLE:
		double_write(text, last.value);
		return true;
	case VALUE_ARRAY:
		return array_write(decoder, text, last.bytes, depth);
	case VALUE_KVLIST:
		return kvlist_write(decoder, text, last.bytes, depth);
	case VALUE_BYTES:
		bytes_write(text, last.bytes, depth);
		return true;
	case VALUE_STRINDEX:
		if (!otlp_entry(decoder, OTLP_STRINGS, last.value, &string))
			return false;
		string_write(text, string, depth);
		return true;
	default:
		if (depth)
			buf_str(&text->out, STR("null"));
		return true;
	}
}

/* Truncate at a character boundary. */
static str value_truncate(struct otlp_decoder *decoder, str value)
{
	if (value.len <= LABEL_VALUE_MAX)
		return value;
	decoder->result->counts[OTLP_LABEL_TRUNCATED]++;
	value.len = LABEL_VALUE_MAX;
	while (value.len && ((unsigned char)value.ptr[value.len] & 0xc0) == 0x80)
		value.len--;
	return value;
}

/* Most values are strings of the message: borrow them instead of copying. */
static bool value_borrow(struct otlp_decoder *decoder, str any_value, str *ret_text,
			 bool *ret_found)
{
	struct reader r = reader_of(any_value);
	struct field field = { 0 };

	*ret_found = false;
	if (!field_next(&r, &field) || reader_left(&r))
		return true;
	if (field.number == VALUE_STRING && field.wire == WIRE_LEN) {
		*ret_found = true;
		*ret_text = field.bytes;
		return otlp_text_check(decoder, field.bytes);
	}
	if (field.number == VALUE_STRINDEX && field.wire == WIRE_VARINT) {
		*ret_found = true;
		return otlp_entry(decoder, OTLP_STRINGS, field.value, ret_text);
	}
	return true;
}

/* Dots become underscores in label names, so `..`, `._` and `_.` at the start are reserved too. */
static bool label_is_reserved(struct otlp_decoder *decoder, str attribute)
{
	str start = { attribute.ptr, attribute.len < 2 ? attribute.len : 2 };

	return label_name_is_reserved(label_name_of_attribute(start, &decoder->scratch));
}

bool otlp_attribute_of(struct otlp_decoder *decoder, str name, str any_value,
		       struct otlp_attribute *ret_attribute)
{
	struct text text = { .out = { .arena = decoder->set->arena } };
	bool is_borrowed;
	str value;

	if (!value_borrow(decoder, any_value, &value, &is_borrowed))
		return false;
	if (!is_borrowed) {
		if (!value_write(decoder, &text, any_value, 0))
			return false;
		value = buf_bytes(&text.out);
	}
	*ret_attribute = (struct otlp_attribute){ .name = name };
	if (name.len == 0 || name.len > LABEL_NAME_MAX || text.too_deep) {
		ret_attribute->dropped = true;
		decoder->result->counts[OTLP_LABEL_DROPPED]++;
	} else if (label_is_reserved(decoder, name)) {
		ret_attribute->dropped = true;
		decoder->result->counts[OTLP_LABEL_RESERVED]++;
	} else {
		ret_attribute->value = value_truncate(decoder, value);
	}
	return true;
}
