// SPDX-License-Identifier: Apache-2.0
/*
 * Messages that are rejected, and their reasons.
 */
#include "support/otlp_message.h"
#include "wire/otlp_writer.h"

static void expect_rejected(struct message *m, enum otlp_reason reason)
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

/* A message with these changes is rejected for this reason. */
#define REJECTED(reason, ...)                \
	do {                                 \
		message_init(&m);            \
		__VA_ARGS__;                 \
		expect_rejected(&m, reason); \
	} while (0)

static void each_reason_to_reject_is_reported(void **state)
{
	struct message m;
	uint64_t times[] = { PROFILES_TIME * 1000000, PROFILES_TIME * 1000000 };
	int32_t many[LABELS_MAX + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = 1;
	REJECTED(OTLP_INDEX, m.sample.stack_index = 2);
	REJECTED(OTLP_INDEX, m.sample.stack_index = -1);
	REJECTED(OTLP_INDEX, m.location_index = 9);
	REJECTED(OTLP_INDEX, m.attribute_index = 9);
	REJECTED(OTLP_INDEX, m.sample.link_index = 2);
	REJECTED(OTLP_INDEX, m.attribute.key_strindex = 99);
	REJECTED(OTLP_INDEX, m.strings[0] = protobuf_bytes(STR("x")));
	REJECTED(OTLP_INDEX, m.function.system_name_strindex = 99, m.location.lines = m.lines,
		 m.location.n_lines = 1);
	REJECTED(OTLP_INDEX, m.mapping.filename_strindex = 99);
	REJECTED(OTLP_INDEX, m.location.mapping_index = 99);
	REJECTED(OTLP_TEXT, m.strings[5] = protobuf_bytes(STR("a\0b")));
	REJECTED(OTLP_TEXT, m.strings[5] = protobuf_bytes(STR("\xc3\x28")));
	REJECTED(OTLP_SHAPE, m.sample.n_timestamps_unix_nano = 0);
	REJECTED(OTLP_SHAPE, m.sample.timestamps_unix_nano = times,
		 m.sample.n_timestamps_unix_nano = 2, m.sample.n_values = 1);
	REJECTED(OTLP_SHAPE, m.profile.period = 0);
	REJECTED(OTLP_SHAPE, m.sample.n_values = 1, m.value = INT64_MAX);
	REJECTED(OTLP_OLD_LAYOUT, m.data.dictionary = NULL,
		 m.profile.sample_type = m.profile.period_type = NULL);
	REJECTED(OTLP_LIMIT, m.sample.attribute_indices = many,
		 m.sample.n_attribute_indices = ARRAY_LEN(many));
}

static void tables_and_entries_have_bounds(void **state)
{
	static char id[600]; /* a valid id has 16 */
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
	expect_rejected(&m, OTLP_LIMIT);

	for (size_t i = 0; i <= MESSAGE_TABLE_MAX; i++)
		buf_str(&texts, STR("\x2a\x00")); /* string_table: an empty one */
	buf_u8(&bytes, 0x12);                     /* dictionary */
	buf_str_prefixed(&bytes, buf_bytes(&texts));
	assert_false(try_read(buf_bytes(&bytes), &set, &result, &err, &arena));
	assert_int_equal(result.rejected, OTLP_LIMIT);
}

static void layouts_of_older_versions_have_their_own_reason(void **state)
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

static void an_incomplete_message_is_truncated_and_other_bytes_are_malformed(void **state)
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

RUN_TESTS(TEST(each_reason_to_reject_is_reported), TEST(tables_and_entries_have_bounds),
	  TEST(layouts_of_older_versions_have_their_own_reason),
	  TEST(an_incomplete_message_is_truncated_and_other_bytes_are_malformed))
