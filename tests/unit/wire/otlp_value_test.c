// SPDX-License-Identifier: Apache-2.0
/*
 * Attribute values as labels, and corrupt messages.
 */
#include "support/otlp_message.h"

static struct message message;

/* Decode a resource whose attribute "k" has these bytes as its AnyValue. */
static bool read_value(str any_value, struct sample_set *set, struct otlp_result *result,
		       struct err *err)
{
	struct buf attribute = { .arena = &message.arena }, resource = attribute, out = attribute;
	struct buf inner = attribute;

	arena_free(&message.arena);
	message_init(&message);
	message.resource_profiles.resource = NULL;
	buf_str(&attribute, STR("\x0a\x01k\x12")); /* KeyValue: key, value */
	buf_str_prefixed(&attribute, any_value);
	buf_u8(&resource, 0x0a); /* Resource: attributes */
	buf_str_prefixed(&resource, buf_bytes(&attribute));
	buf_u8(&inner, 0x0a); /* ResourceProfiles: resource, then its profiles */
	buf_str_prefixed(&inner, buf_bytes(&resource));
	buf_str(&inner, protobuf_pack(&message.resource_profiles.base, &message.arena));
	message.data.n_resource_profiles = 0;
	buf_str(&out, protobuf_pack(&message.data.base, &message.arena));
	buf_u8(&out, 0x0a); /* ProfilesData: resource_profiles */
	buf_str_prefixed(&out, buf_bytes(&inner));
	return try_read(buf_bytes(&out), set, result, err, &message.arena);
}

#define BYTES(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}

static void a_value_becomes_text_as_in_json(void **state)
{
	static const struct {
		str any_value, label;
	} rows[] = {
		{ BYTES("\x0a\x02hi"), BYTES("hi") },
		{ BYTES("\x10\x01"), BYTES("true") },
		{ BYTES("\x10\x00"), BYTES("false") },
		{ BYTES("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), BYTES("-1") },
		{ BYTES("\x21\x00\x00\x00\x00\x00\x00\xf8\x3f"), BYTES("1.5") },
		{ BYTES("\x3a\x02\xff\x00"), BYTES("ff00") },
		{ BYTES("\x40\x03"), BYTES("cpu") },         /* an index of the texts */
		{ BYTES("\x10\x01\x0a\x01z"), BYTES("z") },  /* the last of several */
		{ BYTES("\x4a\x01q\x0a\x01z"), BYTES("z") }, /* an unknown field is skipped */
		{ BYTES("\x2a\x00"), BYTES("[]") },
		{ BYTES("\x2a\x07\x0a\x02\x40\x03\x0a\x01\x48"), { NULL, 0 } },
		{ BYTES("\x2a\x09\x12\x01x\x0a\x02\x40\x03\x0a\x00"), BYTES("[\"cpu\",null]") },
		{ BYTES("\x2a\x05\x0a\x03\x0a\x01\x01"), BYTES("[\"\\u0001\"]") },
		{ BYTES("\x32\x00"), BYTES("{}") },
		{ BYTES("\x32\x0a\x0a\x08\x0a\x01n\x12\x03\x0a\x01v"), BYTES("{\"n\":\"v\"}") },
		/* keys by index, and an unknown field between two */
		{ BYTES("\x32\x13\x0a\x06\x18\x03\x12\x02\x18\x07\x10\x01\x0a\x07\x0a\x01m\x12\x02"
			"\x10"
			"\x01"),
		  BYTES("{\"cpu\":7,\"m\":true}") },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct otlp_result result;
		struct sample_set set;
		struct err err = { 0 };
		bool is_read = read_value(rows[i].any_value, &set, &result, &err);

		if (!rows[i].label.ptr) {
			assert_false(is_read);
			continue;
		}
		if (!is_read)
			fail_msg("row %zu: %s", i, err.msg);

		str label = labels_get(set.series.items[0].labels, STR("k"));

		if (!str_eq(label, rows[i].label))
			fail_msg("row %zu: " STR_FMT, i, STR_ARG(label));
	}
	arena_free(&message.arena);
}

static void a_value_with_a_wrong_wire_type_rejects_the_message(void **state)
{
	static const struct {
		str any_value;
		enum otlp_reason reason;
	} rows[] = {
		{ BYTES("\x08\x01"), OTLP_MALFORMED }, /* a string that is a number */
		{ BYTES("\x10\x01\x2a\x02\x08\x01"),
		  OTLP_MALFORMED }, /* a number, then an array of numbers */
		{ BYTES("\x2a\x02\x08\x01"), OTLP_MALFORMED },         /* an array of numbers */
		{ BYTES("\x32\x02\x08\x01"), OTLP_MALFORMED },         /* a list of numbers */
		{ BYTES("\x32\x04\x0a\x02\x08\x01"), OTLP_MALFORMED }, /* a key that is a number */
		{ BYTES("\x2a\x04\x0a\x02\x08\x01"), OTLP_MALFORMED },
		{ BYTES("\x2a\x04\x0a\x02\x40\x63"), OTLP_INDEX },
		{ BYTES("\x40\x63"), OTLP_INDEX },
		{ BYTES("\x32\x08\x0a\x06\x18\x63\x12\x02\x10\x01"), OTLP_INDEX },
		{ BYTES("\x32\x0b\x0a\x09\x0a\x01n\x12\x04\x2a\x02\x08\x01"), OTLP_MALFORMED },
		{ BYTES("\x32\x06\x0a\x04\x0a\x02z\xff"), OTLP_TEXT },
		{ BYTES("\x0a\x01\xff"), OTLP_TEXT },
		{ BYTES("\x0a\x09"
			"12345678\xff"),
		  OTLP_TEXT },
		{ BYTES("\x0a\x09"
			"12345678\x00"),
		  OTLP_TEXT },
		{ BYTES("\x0a\x05zz"), OTLP_MALFORMED },
		{ BYTES("\x10\x01\x0a\x05zz"), OTLP_MALFORMED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct otlp_result result;
		struct sample_set set;
		struct err err = { 0 };

		if (read_value(rows[i].any_value, &set, &result, &err))
			fail_msg("row %zu is read", i);
		if (result.rejected != rows[i].reason && result.rejected != OTLP_TRUNCATED)
			fail_msg("row %zu: %s", i, err.msg);
	}
	arena_free(&message.arena);
}

static void a_long_value_inside_a_list_is_truncated_and_counted(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf any_value = { .arena = &arena };
	char text[2 * LABEL_VALUE_MAX];
	struct otlp_result result;
	struct sample_set set;
	struct err err;

	(void)state;
	memset(text, 'x', sizeof(text));
	buf_u8(&any_value, 0x3a); /* bytes, of which each is two characters */
	buf_str_prefixed(&any_value, (str){ text, sizeof(text) });
	assert_true(read_value(buf_bytes(&any_value), &set, &result, &err));
	assert_int_equal(result.counts[OTLP_LABEL_TRUNCATED], 1);
	assert_int_equal(labels_get(set.series.items[0].labels, STR("k")).len, LABEL_VALUE_MAX);
	arena_free(&message.arena);
}

/* All indexes in the set are valid. */
static void assert_whole(const struct sample_set *set)
{
	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];

		assert_true(sample->series < set->series.len);
		assert_true(sample->labels < set->label_sets.len);
		assert_true(sample->stack < set->stacks.len);
	}
	for (size_t i = 0; i < set->stacks.len; i++)
		for (size_t k = 0; k < set->stacks.items[i].len; k++)
			assert_true(set->stacks.items[i].frames[k] < set->frames.len);
}

/* A message with every kind of field, with each of its bytes changed in several ways. */
static void a_corrupt_message_is_rejected_with_a_reason_or_decoded(void **state)
{
	static const char flips[] = { 0x01, 0x02, 0x05, 0x08, '\x80', '\xff' };
	AUTO_ARENA arena = { 0 };
	struct message m;
	int32_t place = 0;

	(void)state;
	message_init(&m);
	m.resource.n_attributes = 2;
	m.attributes[0].key = protobuf_bytes(STR("a"));
	m.values[0].value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	m.values[0].string_value = protobuf_bytes(STR("b"));
	m.attributes[1].key = protobuf_bytes(STR("c"));
	m.values[1].value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	m.location.lines = m.lines;
	m.location.n_lines = 1;
	m.location.attribute_indices = &place;
	m.location.n_attribute_indices = 1;
	m.profile.attribute_indices = &place;
	m.profile.n_attribute_indices = 1;
	m.link.trace_id = protobuf_bytes(STR("0123456789abcdef"));
	m.link.span_id = protobuf_bytes(STR("01234567"));
	m.sample.link_index = 1;

	str bytes = protobuf_pack(&m.data.base, &m.arena);
	char *copy = arena_array(&m.arena, char, bytes.len);

	memcpy(copy, bytes.ptr, bytes.len);
	for (size_t i = 0; i < bytes.len * sizeof(flips); i++) {
		char *at = &copy[i / sizeof(flips)];
		struct otlp_result result = { 0 };
		struct sample_set set;
		struct err err = { 0 };

		*at = (char)(*at ^ flips[i % sizeof(flips)]);
		if (try_read((str){ copy, bytes.len }, &set, &result, &err, &arena))
			assert_whole(&set);
		else
			assert_non_null(strstr(err.msg, otlp_reason_names[result.rejected]));
		*at = (char)(*at ^ flips[i % sizeof(flips)]);
		arena_reset(&arena);
	}
	arena_free(&m.arena);
}

RUN_TESTS(TEST(a_value_becomes_text_as_in_json),
	  TEST(a_value_with_a_wrong_wire_type_rejects_the_message),
	  TEST(a_long_value_inside_a_list_is_truncated_and_counted),
	  TEST(a_corrupt_message_is_rejected_with_a_reason_or_decoded))
