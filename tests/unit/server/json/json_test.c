// SPDX-License-Identifier: Apache-2.0
#include "server/json/json.h"
#include "support/test.h"

#include <math.h>

static str written_str(struct arena *arena, str value)
{
	struct buf out = { .arena = arena };
	struct json json = { .out = &out };

	json_str(&json, value);
	return buf_bytes(&out);
}

static void inserts_commas(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };
	struct json json = { .out = &out };

	(void)state;
	json_object(&json);
	json_key(&json, STR("a"));
	json_array(&json);
	json_u64(&json, UINT64_MAX);
	json_i64(&json, -1);
	json_array(&json);
	json_end_array(&json);
	json_object(&json);
	json_end_object(&json);
	json_end_array(&json);
	json_key(&json, STR("b"));
	json_bool(&json, true);
	json_key(&json, STR("c"));
	json_null(&json);
	json_key(&json, STR("d"));
	json_double(&json, 0.1);
	json_key(&json, STR("e"));
	json_double(&json, (double)NAN);
	json_end_object(&json);
	assert_true(str_eq(buf_bytes(&out), STR("{\"a\":[18446744073709551615,-1,[],{}],\"b\":true,"
						"\"c\":null,\"d\":0.1,\"e\":null}")));
}

static void escapes_text(void **state)
{
	static const struct {
		str in, out;
	} rows[] = {
		{ { "plain", 5 }, { "\"plain\"", 7 } },
		{ { "", 0 }, { "\"\"", 2 } },
		{ { "a\"b\\c", 5 }, { "\"a\\\"b\\\\c\"", 9 } },
		{ { "\n\t\r\b\f", 5 }, { "\"\\n\\t\\r\\b\\f\"", 12 } },
		{ { "\0\x1f\x7f", 3 }, { "\"\\u0000\\u001f\\u007f\"", 20 } },
		{ { "</script>", 9 }, { "\"\\u003c/script>\"", 16 } },
		{ { "\xc3\xa4\xf0\x9f\x94\xa5", 6 }, { "\"\xc3\xa4\xf0\x9f\x94\xa5\"", 8 } },
		{ { "\xff", 1 }, { "\"\xef\xbf\xbd\"", 5 } },
		{ { "a\xc3", 2 }, { "\"a\xef\xbf\xbd\"", 6 } },
		{ { "\xe2\x82x", 3 }, { "\"\xef\xbf\xbd\xef\xbf\xbdx\"", 9 } },
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_true(str_eq(written_str(&arena, rows[i].in), rows[i].out));
}

RUN_TESTS(TEST(inserts_commas), TEST(escapes_text))
