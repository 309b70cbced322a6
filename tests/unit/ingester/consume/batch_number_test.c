// SPDX-License-Identifier: Apache-2.0
#include "ingester/consume/batch_number_internal.h"
#include "support/test.h"

#include <stdio.h>

static void reads_host_epoch_and_sequence(void **state)
{
	struct batch_number number;
	struct err err;

	(void)state;
	assert_true(batch_number_parse(STR("n/1"), STR("1700000000000000000"), STR("42"), &number,
				       &err));
	assert_true(number.is_present);
	assert_true(str_eq(number.host, STR("n/1")));
	assert_true(number.epoch == 1700000000000000000);
	assert_int_equal(number.sequence, 42);
}

static void a_message_without_headers_has_no_number(void **state)
{
	struct batch_number number = { .is_present = true };
	struct err err;

	(void)state;
	assert_true(batch_number_parse(STR("key"), (str){ 0 }, (str){ 0 }, &number, &err));
	assert_false(number.is_present);
}

static void rejects_an_incomplete_or_invalid_number(void **state)
{
	static const struct {
		str key, epoch, sequence;
	} rows[] = {
		{ STR("h"), STR("1"), { 0 } },
		{ STR("h"), { 0 }, STR("1") },
		{ STR("h"), STR("1"), STR("") },
		{ STR("h"), STR("0"), STR("1") },
		{ STR("h"), STR("1"), STR("0") },
		{ STR("h"), STR("1"), STR("-1") },
		{ STR("h"), STR("1"), STR("1x") },
		{ STR("h"), STR("9223372036854775807"), STR("1") },
		{ STR("h"), STR("1"), STR("18446744073709551616") },
		{ STR(""), STR("1"), STR("1") },
		{ STR("a\0b"), STR("1"), STR("1") },
		{ STR("\xff"), STR("1"), STR("1") },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct batch_number number;
		struct err err;

		assert_false(batch_number_parse(rows[i].key, rows[i].epoch, rows[i].sequence,
						&number, &err));
		assert_int_equal(err.code, ERR_INVALID);
	}
}

RUN_TESTS(TEST(reads_host_epoch_and_sequence), TEST(a_message_without_headers_has_no_number),
	  TEST(rejects_an_incomplete_or_invalid_number))
