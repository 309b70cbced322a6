// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/request_path.h"
#include "support/test.h"

#define ID "0123456789abcdef"

static void parses_the_paths_of_debuginfod_clients(void **state)
{
	static const struct {
		const char *below;
		enum request_kind kind;
		const char *name;
	} rows[] = {
		{ ID "/debuginfo", REQUEST_DEBUGINFO, "" },
		{ ID "/executable", REQUEST_EXECUTABLE, "" },
		{ ID "/section/.text", REQUEST_SECTION, ".text" },
		{ ID "/section/a/b", REQUEST_SECTION, "a/b" },
		{ ID "/source/usr/src/a.c", REQUEST_SOURCE, "/usr/src/a.c" },
		{ ID "/source/../a.c", REQUEST_SOURCE, "/../a.c" },
		{ ID "/source//a", REQUEST_SOURCE, "//a" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct request_path path;
		struct err err = { 0 };

		assert_true(request_path_parse(str_from(rows[i].below), &path, &err));
		assert_string_equal(path.id.text, ID);
		assert_int_equal(path.kind, rows[i].kind);
		assert_true(str_eq(path.name, str_from(rows[i].name)));
	}
}

static void rejects_other_paths(void **state)
{
	static const struct {
		const char *below;
		enum err_code code;
	} rows[] = {
		{ "", ERR_INVALID },
		{ "/", ERR_INVALID },
		{ "/debuginfo", ERR_INVALID },
		{ "../../etc/passwd", ERR_INVALID },
		{ "debuginfo", ERR_INVALID },
		{ ID, ERR_NOT_FOUND },
		{ ID "/", ERR_NOT_FOUND },
		{ ID "//debuginfo", ERR_NOT_FOUND },
		{ ID "/Debuginfo", ERR_NOT_FOUND },
		{ ID "/debuginfo/", ERR_NOT_FOUND },
		{ ID "/executable/x", ERR_NOT_FOUND },
		{ ID "/section", ERR_INVALID },
		{ ID "/section/", ERR_INVALID },
		{ ID "/source", ERR_INVALID },
		{ ID "/source/", ERR_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct request_path path;
		struct err err = { 0 };

		assert_false(request_path_parse(str_from(rows[i].below), &path, &err));
		assert_int_equal(err.code, rows[i].code);
		assert_true(strlen(err.msg) > 10);
	}
}

static void a_name_is_bounded_and_has_no_nul(void **state)
{
	char below[SOURCE_PATH_MAX + 64];
	struct request_path path;
	size_t head = strlen(ID "/source");
	struct err err;

	(void)state;
	memset(below, 'a', sizeof(below));
	memcpy(below, ID "/source/", head + 1);
	assert_true(request_path_parse((str){ below, head + SOURCE_PATH_MAX }, &path, &err));
	assert_false(request_path_parse((str){ below, head + SOURCE_PATH_MAX + 1 }, &path, &err));
	below[head + 2] = 0;
	assert_false(request_path_parse((str){ below, head + 4 }, &path, &err));

	head = strlen(ID "/section/");
	memset(below, 'a', sizeof(below));
	memcpy(below, ID "/section/", head);
	assert_true(request_path_parse((str){ below, head + SECTION_NAME_MAX }, &path, &err));
	assert_false(request_path_parse((str){ below, head + SECTION_NAME_MAX + 1 }, &path, &err));
}

RUN_TESTS(TEST(parses_the_paths_of_debuginfod_clients), TEST(rejects_other_paths),
	  TEST(a_name_is_bounded_and_has_no_nul))
