// SPDX-License-Identifier: Apache-2.0
#include "querier/report/frame_identity.h"
#include "support/test.h"

static void each_identity_has_a_name_and_binary_is_the_default(void **state)
{
	static const struct {
		const char *name;
		enum frame_identity identity;
	} cases[] = {
		{ "", FRAME_OF_BINARY },         { "binary", FRAME_OF_BINARY },
		{ "path", FRAME_OF_PATH },       { "function", FRAME_OF_FUNCTION },
		{ "address", FRAME_OF_ADDRESS },
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		enum frame_identity identity = FRAME_IDENTITY_COUNT;

		assert_true(frame_identity_find(str_from(cases[i].name), &identity, &err));
		assert_int_equal(identity, cases[i].identity);
	}
}

static void an_unknown_identity_is_rejected_with_the_names(void **state)
{
	enum frame_identity identity = FRAME_IDENTITY_COUNT;
	struct err err;

	(void)state;
	assert_false(frame_identity_find(STR("line"), &identity, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_string_equal(err.msg, "merge: \"line\" is none of binary, function, path, address");
	assert_int_equal(identity, FRAME_IDENTITY_COUNT);
}

RUN_TESTS(TEST(each_identity_has_a_name_and_binary_is_the_default),
	  TEST(an_unknown_identity_is_rejected_with_the_names))
