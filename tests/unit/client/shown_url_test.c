// SPDX-License-Identifier: Apache-2.0
#include "client/shown_url.h"
#include "support/test.h"

static void hides_user_and_password(void **state)
{
	static const struct {
		const char *url, *shown;
	} cases[] = {
		{ "http://host:8002/buildid/1", "http://host:8002/buildid/1" },
		{ "http://user:secret@host/path", "http://...@host/path" },
		{ "https://secret@[::1]:1", "https://...@[::1]:1" },
		{ "http://user:se@cret@host?x=a@b", "http://...@host?x=a@b" },
		{ "http://host/a@b", "http://host/a@b" },
		{ "user:secret@host:80", "...@host:80" },
		{ "@host", "@host" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { 0 };

		assert_string_equal(str_z(&arena, shown_url(str_from(cases[i].url), &arena)),
				    cases[i].shown);
	}
}

RUN_TESTS(TEST(hides_user_and_password))
