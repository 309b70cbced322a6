// SPDX-License-Identifier: Apache-2.0
#include "otlp_message.h"

#include <stdio.h>

static void what_was_written_comes_back_sample_for_sample(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set, again;
	struct otlp_result result;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	profiles_fill(&set, &arena);
	assert_true(try_read(otlp_write(&set, 0, set.samples.len, &arena), &again, &result, &err,
			     &arena));

	assert_string_equal(set_text(&again, &arena), set_text(&set, &arena));
	assert_int_equal(result.samples, set.samples.len);
	for (size_t i = 0; i < OTLP_REASON_COUNT; i++)
		assert_int_equal(result.counts[i], 0);
}

static void expect_refused(struct message *m, enum otlp_reason reason)
{
	struct otlp_result result;
	struct sample_set set;
	struct err err = { 0 };

	assert_false(
		try_read(protobuf_pack(&m->data.base, &m->arena), &set, &result, &err, &m->arena));
	assert_int_equal(result.rejected, reason);
	assert_non_null(strstr(err.msg, otlp_reason_names[reason]));
	arena_free(&m->arena);
}

#define CPU_LINE "process_cpu:cpu:nanoseconds:cpu:nanoseconds/1000 "
#define REST                                                                            \
	" 1790000000000 {service_name=unknown,} {thread_id=42,};0 native  /bin/app 40 " \
	"   0 0\n"

static void timestamps_count_one_period_each(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	assert_string_equal(message_text(&m), CPU_LINE "1000" REST);
	arena_free(&m.arena);
}

static void one_value_without_a_time_is_at_the_profiles(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	m.sample.n_timestamps_unix_nano = 0;
	m.sample.n_values = 1;
	m.value = 7;
	assert_string_equal(message_text(&m), CPU_LINE "7000" REST);
	arena_free(&m.arena);
}

static void a_value_beside_a_time_is_its_own(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	m.sample.n_values = 1;
	m.value = 3;
	assert_string_equal(message_text(&m), CPU_LINE "3000" REST);
	arena_free(&m.arena);
}

static void values_of_other_types_are_taken_as_they_are(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	m.sample_type.type_strindex = 3;
	m.sample_type.unit_strindex = 4;
	m.sample.n_values = 1;
	m.value = 3;
	assert_string_equal(message_text(&m), CPU_LINE "3" REST);
	arena_free(&m.arena);
}

static void resource_attributes_are_labels_by_the_table(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	m.resource.n_attributes = 4;
	m.attributes[0].key = protobuf_bytes(STR("host.name"));
	m.values[0].value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	m.values[0].string_value = protobuf_bytes(STR("n1"));
	m.attributes[1].key = protobuf_bytes(STR("process.pid")); /* a sample's, by the table */
	m.values[1].value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	m.values[1].int_value = -5;
	m.attributes[2].key_strindex = 9;
	m.values[2].value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE_STRINDEX;
	m.values[2].string_value_strindex = 8;
	m.attributes[3].key = protobuf_bytes(STR("a.b"));
	m.values[3].value_case = OTLP__ANY_VALUE__VALUE_DOUBLE_VALUE;
	m.values[3].double_value = 0.1;
	assert_string_equal(message_text(&m),
			    CPU_LINE "1000 1790000000000 "
				     "{a_b=0.1,key_of_index=from_index,node=n1,"
				     "service_name=unknown,} {pid=-5,thread_id=42,};0 native  "
				     "/bin/app 40    0 0\n");
	arena_free(&m.arena);
}

static void lines_and_links_are_read(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	m.location.lines = m.lines;
	m.location.n_lines = 1;
	m.line.line = 12;
	m.sample.link_index = 1;
	m.link.trace_id = protobuf_bytes(STR("0123456789abcdef"));
	m.link.span_id = protobuf_bytes(STR("01234567"));
	assert_string_equal(message_text(&m),
			    CPU_LINE "1000 1790000000000 {service_name=unknown,} "
				     "{span_id=3031323334353637,thread_id=42,trace_id="
				     "30313233343536373839616263646566,};0 native  /bin/app 40 "
				     "main   12 0\n");
	arena_free(&m.arena);
}

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

static void arrays_are_text_as_in_json(void **state)
{
	static const char array[] = "\x2a\x10" /* array_value */
				    "\x0a\x05\x0a\x03"
				    "a\"b"
				    "\x0a\x02\x10\x01"   /* true */
				    "\x0a\x03\x3a\x01z"; /* bytes */
	struct message m;

	(void)state;
	message_init(&m);
	m.resource.n_attributes = 1;
	m.attributes[0].key = protobuf_bytes(STR("list"));

	ProtobufCAllocator allocator = protobuf_allocator(&m.arena);

	m.attributes[0].value =
		otlp__any_value__unpack(&allocator, sizeof(array) - 1, (const uint8_t *)array);
	assert_non_null(m.attributes[0].value);
	assert_non_null(strstr(message_text(&m), "{list=[\"a\\\"b\",true,\"7a\"],service"));
	arena_free(&m.arena);
}

static void each_reason_to_refuse_is_told(void **state)
{
	struct message m;
	uint64_t times[2];
	int32_t many[LABELS_MAX + 1];

	(void)state;
	message_init(&m);
	m.sample.stack_index = 2;
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.sample.stack_index = -1;
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.location_index = 9;
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.attribute_index = 9;
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.sample.link_index = 2;
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.attribute.key_strindex = 99;
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.strings[0] = protobuf_bytes(STR("x"));
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.strings[5] = protobuf_bytes(STR("a\0b"));
	expect_refused(&m, OTLP_TEXT);
	message_init(&m);
	m.strings[5] = protobuf_bytes(STR("\xc3\x28"));
	expect_refused(&m, OTLP_TEXT);
	message_init(&m);
	m.sample.n_timestamps_unix_nano = 0;
	expect_refused(&m, OTLP_SHAPE);
	message_init(&m);
	m.sample.timestamps_unix_nano = times;
	m.sample.n_timestamps_unix_nano = 2;
	m.sample.n_values = 1;
	times[0] = times[1] = m.time_ns;
	expect_refused(&m, OTLP_SHAPE);
	message_init(&m);
	m.profile.period = 0;
	expect_refused(&m, OTLP_SHAPE);
	message_init(&m);
	m.sample.n_values = 1;
	m.value = INT64_MAX;
	expect_refused(&m, OTLP_SHAPE);
	message_init(&m);
	m.function.system_name_strindex = 99;
	m.location.lines = m.lines;
	m.location.n_lines = 1;
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.mapping.filename_strindex = 99;
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.location.mapping_index = 99;
	expect_refused(&m, OTLP_INDEX);
	message_init(&m);
	m.data.dictionary = NULL;
	m.profile.sample_type = m.profile.period_type = NULL;
	expect_refused(&m, OTLP_OLD_LAYOUT);
	message_init(&m);
	m.sample.attribute_indices = many;
	m.sample.n_attribute_indices = ARRAY_LEN(many);
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = 1;
	expect_refused(&m, OTLP_LIMIT);
	arena_free(&m.arena);
}

static void tables_and_entries_have_bounds(void **state)
{
	static char id[600]; /* of which 16 would be one */
	AUTO_ARENA arena = { 0 };
	struct buf texts = { .arena = &arena }, bytes = { .arena = &arena };
	struct otlp_result result;
	struct sample_set set;
	struct message m;
	struct err err;

	(void)state;
	message_init(&m);
	m.sample.link_index = 1;
	m.link.trace_id = protobuf_bytes((str){ id, sizeof(id) });
	expect_refused(&m, OTLP_LIMIT);

	for (size_t i = 0; i <= MESSAGE_TABLE_MAX; i++)
		buf_str(&texts, STR("\x2a\x00")); /* string_table: an empty one */
	buf_u8(&bytes, 0x12);                     /* dictionary */
	buf_str_prefixed(&bytes, buf_bytes(&texts));
	assert_false(try_read(buf_bytes(&bytes), &set, &result, &err, &arena));
	assert_int_equal(result.rejected, OTLP_LIMIT);
}

/* ProfilesData{resource_profiles{scope_profiles{profiles{...}}}}, without a dictionary. */
static str message_around(str profile, struct arena *arena)
{
	str inner = profile;
	static const uint8_t tags[] = { 0x12, 0x12, 0x0a };

	for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
		struct buf outer = { .arena = arena };

		buf_u8(&outer, tags[i]);
		buf_str_prefixed(&outer, inner);
		inner = buf_bytes(&outer);
	}
	return inner;
}

static void layouts_of_older_versions_are_told(void **state)
{
	static const struct {
		const char *what;
		str profile;
	} rows[] = {
		{ "1.5: mapping_table", { "\x1a\x02\x08\x01", 4 } },
		{ "1.7: location_indices, packed", { "\x1a\x02\x01\x02", 4 } },
		{ "1.7: duration_nanos", { "\x28\x05", 2 } },
		{ "1.8: profile_id", { "\x42\x02zz", 4 } },
		{ "1.7: values of a sample", { "\x12\x04\x1a\x02\x01\x02", 6 } },
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct otlp_result result;
		struct sample_set set;
		struct err err;

		assert_false(try_read(message_around(rows[i].profile, &arena), &set, &result, &err,
				      &arena));
		if (result.rejected != OTLP_OLD_LAYOUT)
			fail_msg("%s: %s", rows[i].what, err.msg);
	}
}

static void a_cut_message_is_truncated_and_other_bytes_are_malformed(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct otlp_result result;
	struct sample_set set;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	profiles_fill(&set, &arena);

	str bytes = otlp_write(&set, 0, set.samples.len, &arena);

	assert_false(try_read((str){ bytes.ptr, bytes.len - 1 }, &set, &result, &err, &arena));
	assert_int_equal(result.rejected, OTLP_TRUNCATED);
	for (size_t len = 0; len < bytes.len; len++)
		if (!try_read((str){ bytes.ptr, len }, &set, &result, &err, &arena))
			assert_true(result.rejected < OTLP_REASON_COUNT);
	assert_false(try_read(STR("\x0b\x0c"), &set, &result, &err, &arena)); /* a group */
	assert_int_equal(result.rejected, OTLP_MALFORMED);
	assert_false(try_read(STR("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), &set,
			      &result, &err, &arena));
	assert_int_equal(result.rejected, OTLP_MALFORMED);
}

static void times_outside_are_left_out_and_counted(void **state)
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

static void long_labels_are_cut_and_long_names_dropped(void **state)
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
	assert_int_equal(result.counts[OTLP_LABEL_CUT], 1);
	assert_int_equal(result.counts[OTLP_LABEL_DROPPED], 1);

	str kept = labels_get(set.series.items[0].labels, STR("k"));

	assert_true(kept.len <= LABEL_VALUE_MAX && kept.len >= LABEL_VALUE_MAX - 3);
	assert_true(str_is_utf8(kept));
	arena_free(&m.arena);
}

static void a_label_with_a_reserved_name_is_left_out_and_counted(void **state)
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

		size_t kept = rows[i].reserved ? 0 : 1;

		assert_int_equal(result.counts[OTLP_LABEL_RESERVED], 2 * (1 - kept));
		assert_int_equal(result.counts[OTLP_LABEL_DROPPED], 0);
		assert_int_equal(set.series.items[0].labels.len, 1 + kept); /* and service_name */
		assert_int_equal(set.label_sets.items[set.samples.items[0].labels].len, kept);
		arena_free(&m.arena);
	}
}

static void a_name_too_long_is_cut_at_a_character_and_counted(void **state)
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
	assert_int_equal(result.counts[OTLP_NAME_CUT], 1);

	struct stack stack = set.stacks.items[set.samples.items[0].stack];

	assert_int_equal(set.frames.items[stack.frames[0]].function.len, NAME_MAX_BYTES - 1);
	arena_free(&m.arena);
}

static void a_stack_too_deep_loses_its_root_side(void **state)
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
	assert_int_equal(result.counts[OTLP_STACK_CUT], 1);

	struct stack stack = set.stacks.items[set.samples.items[0].stack];

	assert_int_equal(stack.len, STACK_DEPTH_MAX);
	assert_int_equal(set.frames.items[stack.frames[stack.len - 1]].address, 0);
	assert_int_equal(set.frames.items[stack.frames[0]].address, 0x40);
	arena_free(&m.arena);
}

/* As protobuf asks of every parser: what is not packed, and dictionaries in pieces. */
static void unpacked_numbers_and_unknown_fields_are_taken(void **state)
{
	struct message m;
	struct otlp_result result;
	struct sample_set set;
	struct err err;

	(void)state;
	message_init(&m);

	str bytes = protobuf_pack(&m.data.base, &m.arena);
	struct buf more = { .arena = &m.arena };

	buf_str(&more, bytes);
	buf_str(&more, STR("\x9a\x06\x03xyz")); /* field 99 */
	/* a second resource whose only sample has an unpacked value and attribute, stack 1 */
	str profile = { "\x0a\x04\x08\x03\x10\x04"
			"\x12\x06\x08\x01\x10\x01\x20\x05"
			"\x19\x00\x00\x00\x00\x00\x00\x00\x10",
			23 };

	buf_str(&more, message_around(profile, &m.arena));
	if (!try_read(buf_bytes(&more), &set, &result, &err, &m.arena))
		fail_msg("%s", err.msg);
	assert_int_equal(set.samples.len, 2);
	assert_int_equal(set.samples.items[1].value, 5);
	assert_int_equal(set.samples.items[1].labels, set.samples.items[0].labels);
	assert_int_equal(set.samples.items[1].stack, set.samples.items[0].stack);
	arena_free(&m.arena);
}

RUN_TESTS(TEST(what_was_written_comes_back_sample_for_sample),
	  TEST(timestamps_count_one_period_each), TEST(one_value_without_a_time_is_at_the_profiles),
	  TEST(a_value_beside_a_time_is_its_own), TEST(values_of_other_types_are_taken_as_they_are),
	  TEST(resource_attributes_are_labels_by_the_table), TEST(lines_and_links_are_read),
	  TEST(a_value_nested_too_deep_is_dropped_and_counted), TEST(arrays_are_text_as_in_json),
	  TEST(each_reason_to_refuse_is_told), TEST(tables_and_entries_have_bounds),
	  TEST(layouts_of_older_versions_are_told),
	  TEST(a_cut_message_is_truncated_and_other_bytes_are_malformed),
	  TEST(times_outside_are_left_out_and_counted),
	  TEST(long_labels_are_cut_and_long_names_dropped),
	  TEST(a_label_with_a_reserved_name_is_left_out_and_counted),
	  TEST(a_name_too_long_is_cut_at_a_character_and_counted),
	  TEST(a_stack_too_deep_loses_its_root_side),
	  TEST(unpacked_numbers_and_unknown_fields_are_taken))
