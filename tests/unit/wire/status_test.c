// SPDX-License-Identifier: Apache-2.0
#include "support/test.h"
#include "wire/status.h"

#include <stdio.h>

static const struct agent_status status = {
	.node = { "n1", 2 },
	.version = { "0.1", 3 },
	.frequency_hz = 19,
	.sampled = 1000,
	.batch_samples = 190,
	.time_unix_ns = 77,
	.spool_oldest = 12,
	.spooled = 990,
	.sent = 700,
	.lost = { { { "ring_full", 9 }, 3 }, { { "spool_full", 10 }, 4 } },
	.lost_count = 2,
	.truncated = { { { "too_deep", 8 }, 5 } },
	.truncated_count = 1,
};

static void decodes_what_it_encoded(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct agent_status got;
	struct err err;

	(void)state;
	assert_true(status_read(status_write(&status, &arena), &got, &arena, &err));
	assert_true(str_eq(got.node, status.node) && str_eq(got.version, status.version));
	assert_true(got.sampled == 1000 && got.batch_samples == 190 && got.time_unix_ns == 77);
	assert_int_equal(got.spool_oldest, 12);
	assert_true(got.spooled == 990 && got.sent == 700);
	assert_int_equal(got.lost_count, 2);
	assert_true(str_eq(got.lost[1].reason, STR("spool_full")) && got.lost[1].samples == 4);
	assert_true(got.truncated_count == 1 && got.truncated[0].samples == 5);
}

static void rejects_truncation_invalid_text_and_too_many_reasons(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct agent_status got, wrong = status;
	str bytes = status_write(&status, &arena);
	struct err err;
	char many[2 * (STATUS_REASONS_MAX + 1)];

	(void)state;
	assert_false(status_read((str){ bytes.ptr, bytes.len - 1 }, &got, &arena, &err));
	wrong.node = STR("n\0");
	assert_false(status_read(status_write(&wrong, &arena), &got, &arena, &err));
	wrong.node = STR("\xff");
	assert_false(status_read(status_write(&wrong, &arena), &got, &arena, &err));
	for (size_t i = 0; i < sizeof(many); i += 2) /* empty counts: tag of field 5, length 0 */
		memcpy(many + i, "\x2a\0", 2);
	assert_false(status_read((str){ many, sizeof(many) }, &got, &arena, &err));
	assert_non_null(strstr(err.msg, "reasons"));
}

static void separates_losses_before_the_spool_from_those_in_it(void **state)
{
	struct agent_status older = {
		.sampled = 100,
		.lost = { { STR("ring_full"), 1 },
			  { STR("spool_full"), 2 },
			  { STR("spool_write"), 4 },
			  { STR("spool_corrupt"), 8 },
			  { STR("spool_refused"), 16 },
			  { STR("agent_killed"), 32 } },
		.lost_count = 6,
	};

	(void)state;
	assert_int_equal(status_spool_lost(&older), 26);
	assert_int_equal(status_spooled(&older), 63);
	assert_int_equal(status_spooled(&status), 990);
	older.sampled = 36;
	assert_int_equal(status_spooled(&older), 0);
}

RUN_TESTS(TEST(decodes_what_it_encoded), TEST(separates_losses_before_the_spool_from_those_in_it),
	  TEST(rejects_truncation_invalid_text_and_too_many_reasons))
