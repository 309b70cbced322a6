// SPDX-License-Identifier: Apache-2.0
#include "support/stack_walk_stand.h"

static void accepts_a_record_only_if_its_length_matches_its_counts(void **state)
{
	static const uint64_t stack[] = { 1, 2 };
	uint64_t found = 0x400000;

	(void)state;
	set_up();

	const struct sample_record *record =
		shipped(&found, 1, USER_END_NO_TABLE, stack, sizeof(stack));
	size_t bytes = sample_bytes(record);

	for (size_t len = 0; len < bytes; len++)
		assert_null(sample_parse(record, len));
	assert_null(sample_parse(record, bytes + 8));
	assert_ptr_equal(sample_parse(record, bytes), record);
	sent.record.user_end = USER_END_COUNT;
	assert_null(sample_parse(record, bytes));
	sent.record.user_end = USER_END_NONE;
	sent.record.stack_bytes = SAMPLE_STACK_BYTES_MAX + 8;
	assert_null(sample_parse(record, sample_bytes(record)));

	sent.record.stack_bytes = 8;
	sent.record.flags = SAMPLE_CONTINUES; /* has a stack and nothing else */
	assert_null(sample_parse(record, sample_bytes(record)));
	sent.record.kernel_frames = sent.record.user_frames = 0;
	assert_ptr_equal(sample_parse(record, sample_bytes(record)), record);
	sent.record.stack_bytes = 0;
	assert_null(sample_parse(record, sample_bytes(record)));
}

RUN_TESTS(TEST(accepts_a_record_only_if_its_length_matches_its_counts))
