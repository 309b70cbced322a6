// SPDX-License-Identifier: Apache-2.0
/*
 * Parts of a message that are truncated or skipped, and counted; its other parts are decoded.
 */
#include "support/otlp_message.h"
#include "wire/otlp_writer.h"

/* An AnyValue of arrays in arrays, `depth` of them. */
static str nested_value(int depth, struct arena *arena)
{
	str value = STR("\x18\x01"); /* int_value 1 */

	for (int i = 0; i < depth; i++) {
		struct buf element = { .arena = arena }, array = { .arena = arena };

		buf_u8(&element, 0x0a); /* ArrayValue.values */
		buf_str_prefixed(&element, value);
		buf_u8(&array, 0x2a); /* AnyValue.array_value */
		buf_str_prefixed(&array, buf_bytes(&element));
		value = buf_bytes(&array);
	}
	return value;
}

static str message_with_attribute(str any_value, struct arena *arena)
{
	struct buf attribute = { .arena = arena }, resource = { .arena = arena };
	struct buf profiles = { .arena = arena }, message = { .arena = arena };

	buf_u8(&attribute, 0x0a);
	buf_str_prefixed(&attribute, STR("deep"));
	buf_u8(&attribute, 0x12);
	buf_str_prefixed(&attribute, any_value);
	buf_u8(&resource, 0x0a);
	buf_str_prefixed(&resource, buf_bytes(&attribute));
	buf_u8(&profiles, 0x0a);
	buf_str_prefixed(&profiles, buf_bytes(&resource));
	buf_u8(&message, 0x0a);
	buf_str_prefixed(&message, buf_bytes(&profiles));
	return buf_bytes(&message);
}

static void a_value_nested_too_deep_is_dropped_and_counted(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct otlp_result result;
	struct sample_set set;
	struct err err;

	(void)state;
	assert_true(try_read(message_with_attribute(nested_value(5, &arena), &arena), &set, &result,
			     &err, &arena));
	assert_int_equal(result.counts[OTLP_LABEL_DROPPED], 0);
	assert_true(try_read(message_with_attribute(nested_value(3000, &arena), &arena), &set,
			     &result, &err, &arena));
	assert_int_equal(result.counts[OTLP_LABEL_DROPPED], 1);
}

static void samples_outside_the_time_range_are_skipped_and_counted(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, got;
	struct otlp_result result;
	struct otlp_options options = { PROFILES_TIME + 1, PROFILES_TIME + 4 };
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	profiles_fill(&set, &arena);
	sample_set_init(&got, &arena);
	assert_true(otlp_read(otlp_write(&set, 0, set.samples.len, &arena), &options, &got, &result,
			      &err));
	assert_int_equal(got.samples.len, 4);
	assert_int_equal(result.counts[OTLP_TOO_OLD], 1);
	assert_int_equal(result.counts[OTLP_TOO_FAR_AHEAD], 3);
	assert_int_equal(result.samples, 8);
}

static void long_labels_are_truncated_and_long_names_dropped(void **state)
{
	static char value[LABEL_VALUE_MAX + 2], name[LABEL_NAME_MAX + 1];
	struct otlp_result result;
	struct sample_set set;
	struct message m;
	struct err err;

	(void)state;
	message_init(&m);
	memset(name, 'n', sizeof(name));
	for (size_t i = 1; i + 1 < sizeof(value); i += 2)
		memcpy(value + i, "\xc3\xa4", 2);
	value[0] = value[sizeof(value) - 1] = 'x';
	m.resource.n_attributes = 2;
	for (size_t i = 0; i < 2; i++) {
		m.attributes[i].key = protobuf_bytes(STR("k"));
		m.values[i].value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		m.values[i].string_value = protobuf_bytes((str){ value, sizeof(value) });
	}
	m.attributes[1].key = protobuf_bytes((str){ name, sizeof(name) });
	assert_true(try_read(protobuf_pack(&m.data.base, &m.arena), &set, &result, &err, &m.arena));
	assert_int_equal(result.counts[OTLP_LABEL_TRUNCATED], 1);
	assert_int_equal(result.counts[OTLP_LABEL_DROPPED], 1);

	str label = labels_get(set.series.items[0].labels, STR("k"));

	assert_true(label.len <= LABEL_VALUE_MAX && label.len >= LABEL_VALUE_MAX - 3);
	assert_true(str_is_utf8(label));
	arena_free(&m.arena);
}

static void a_label_with_a_reserved_name_is_dropped_and_counted(void **state)
{
	static const struct {
		str attribute;
		bool reserved;
	} rows[] = {
		{ STR("__type__"), true }, { STR("__sample__"), true }, { STR("__"), true },
		{ STR("..tenant"), true }, { STR("_.tenant"), true },   { STR("._tenant"), true },
		{ STR("_tenant"), false }, { STR(".tenant"), false },   { STR("a__b"), false },
		{ STR("_"), false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct otlp_result result;
		struct sample_set set;
		struct message m;
		struct err err;

		message_init(&m);
		m.resource.n_attributes = 1;
		m.attributes[0].key = protobuf_bytes(rows[i].attribute);
		m.values[0].value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		m.values[0].string_value = protobuf_bytes(STR("v"));
		m.strings[7] = protobuf_bytes(rows[i].attribute); /* the sample's attribute */
		assert_true(try_read(protobuf_pack(&m.data.base, &m.arena), &set, &result, &err,
				     &m.arena));

		size_t stored = rows[i].reserved ? 0 : 1;

		assert_int_equal(result.counts[OTLP_LABEL_RESERVED], 2 * (1 - stored));
		assert_int_equal(result.counts[OTLP_LABEL_DROPPED], 0);
		assert_int_equal(set.series.items[0].labels.len, 1 + stored); /* and service_name */
		assert_int_equal(set.label_sets.items[set.samples.items[0].labels].len, stored);
		arena_free(&m.arena);
	}
}

static void a_name_too_long_is_truncated_at_a_character_and_counted(void **state)
{
	static char name[NAME_MAX_BYTES + 2];
	struct otlp_result result;
	struct sample_set set;
	struct message m;
	struct err err;

	(void)state;
	message_init(&m);
	memset(name, 'f', sizeof(name));
	memcpy(name + NAME_MAX_BYTES - 1, "\xc3\xa4", 2);
	m.strings[6] = protobuf_bytes((str){ name, sizeof(name) });
	m.location.lines = m.lines;
	m.location.n_lines = 1;
	m.lines[0] = &m.line;
	assert_true(try_read(protobuf_pack(&m.data.base, &m.arena), &set, &result, &err, &m.arena));
	assert_int_equal(result.counts[OTLP_NAME_TRUNCATED], 1);

	struct stack stack = set.stacks.items[set.samples.items[0].stack];

	assert_int_equal(set.frames.items[stack.frames[0]].function.len, NAME_MAX_BYTES - 1);
	arena_free(&m.arena);
}

static void a_stack_too_deep_has_a_reason_in_place_of_the_frames_nearest_the_root(void **state)
{
	static int32_t deep[STACK_DEPTH_MAX + 10];
	struct otlp_result result;
	struct sample_set set;
	struct message m;
	struct err err;

	(void)state;
	message_init(&m);
	for (size_t i = 0; i < ARRAY_LEN(deep); i++)
		deep[i] = 1;
	deep[0] = 0; /* the leaf is the zero location */
	m.stack.location_indices = deep;
	m.stack.n_location_indices = ARRAY_LEN(deep);
	assert_true(try_read(protobuf_pack(&m.data.base, &m.arena), &set, &result, &err, &m.arena));
	assert_int_equal(result.counts[OTLP_STACK_TRUNCATED], 1);

	struct stack stack = set.stacks.items[set.samples.items[0].stack];

	assert_int_equal(stack.len, STACK_DEPTH_MAX);
	assert_int_equal(set.frames.items[stack.frames[stack.len - 1]].address, 0);
	assert_int_equal(set.frames.items[stack.frames[1]].address, 0x40);

	const struct frame *root = &set.frames.items[stack.frames[0]];

	assert_true(str_eq(root->function, STR("[truncated: stack_truncated]")));
	assert_true(str_eq(root->type, STR(FRAME_TYPE_TRUNCATED)));
	arena_free(&m.arena);
}

RUN_TESTS(TEST(a_value_nested_too_deep_is_dropped_and_counted),
	  TEST(samples_outside_the_time_range_are_skipped_and_counted),
	  TEST(long_labels_are_truncated_and_long_names_dropped),
	  TEST(a_label_with_a_reserved_name_is_dropped_and_counted),
	  TEST(a_name_too_long_is_truncated_at_a_character_and_counted),
	  TEST(a_stack_too_deep_has_a_reason_in_place_of_the_frames_nearest_the_root))
