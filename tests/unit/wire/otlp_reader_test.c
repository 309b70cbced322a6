// SPDX-License-Identifier: Apache-2.0
#include "support/otlp_message.h"
#include "wire/otlp_writer.h"

static void decodes_exactly_the_samples_that_were_encoded(void **state)
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

static void one_value_without_a_time_has_the_profiles_time(void **state)
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

static void a_timestamp_may_have_its_own_value(void **state)
{
	struct message m;

	(void)state;
	message_init(&m);
	m.sample.n_values = 1;
	m.value = 3;
	assert_string_equal(message_text(&m), CPU_LINE "3000" REST);
	arena_free(&m.arena);
}

static void values_of_other_types_are_not_converted(void **state)
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

/* Protobuf requires both of every parser: unpacked numbers, and dictionaries in pieces. */
static void unpacked_numbers_and_unknown_fields_are_accepted(void **state)
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

static void numbers_of_a_field_may_come_in_pieces(void **state)
{
	struct message m;
	struct otlp_result result;
	struct sample_set set;
	struct err err;

	(void)state;
	message_init(&m);

	struct buf sample = { .arena = &m.arena }, profile = { .arena = &m.arena };
	struct buf all = { .arena = &m.arena };

	/* stack 1, attribute 1 and 1 again, values of 5 and of 6; then a time, and another */
	buf_str(&sample, STR("\x08\x01\x12\x01\x01\x12\x01\x01\x22\x01\x05\x22\x01\x06"));
	for (uint64_t ms = 1; ms <= 2; ms++) {
		buf_u8(&sample, 0x29);
		buf_u64(&sample, ms * 1000000);
	}
	buf_str(&profile, STR("\x0a\x04\x08\x03\x10\x04\x12"));
	buf_str_prefixed(&profile, buf_bytes(&sample));
	buf_str(&all, protobuf_pack(&m.data.base, &m.arena));
	buf_str(&all, message_around(buf_bytes(&profile), &m.arena));
	if (!try_read(buf_bytes(&all), &set, &result, &err, &m.arena))
		fail_msg("%s", err.msg);
	assert_int_equal(set.samples.len, 3);
	for (size_t i = 1; i <= 2; i++) {
		assert_int_equal(set.samples.items[i].value, 4 + i);
		assert_int_equal(set.samples.items[i].time_ms, i);
		assert_int_equal(set.samples.items[i].labels, set.samples.items[0].labels);
	}
	arena_free(&m.arena);
}

RUN_TESTS(TEST(decodes_exactly_the_samples_that_were_encoded),
	  TEST(timestamps_count_one_period_each),
	  TEST(one_value_without_a_time_has_the_profiles_time),
	  TEST(a_timestamp_may_have_its_own_value), TEST(values_of_other_types_are_not_converted),
	  TEST(resource_attributes_are_labels_by_the_table), TEST(lines_and_links_are_read),
	  TEST(arrays_are_text_as_in_json), TEST(unpacked_numbers_and_unknown_fields_are_accepted),
	  TEST(numbers_of_a_field_may_come_in_pieces))
