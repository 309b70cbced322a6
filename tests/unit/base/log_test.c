// SPDX-License-Identifier: Apache-2.0
#include "base/base_limits.h"
#include "base/log.h"
#include "base/str.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Not static: the compiler would see the NULL, and warn. */
str none;

static int pipe_fds[2], saved_stderr;
static char line[4096];

static void begin(void)
{
	log_init("test", LOG_INFO);
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK), 0);
	saved_stderr = dup(STDERR_FILENO);
	dup2(pipe_fds[1], STDERR_FILENO);
}

/* The fields of the line that was written since begin(). */
static const char *end(void)
{
	static const char before[] = " level=info svc=test msg=\"a test\" ";
	ssize_t len = read(pipe_fds[0], line, sizeof(line) - 1);

	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	assert_true(len > 0 && line[len - 1] == '\n');
	line[len - 1] = '\0';
	assert_null(strchr(line, '\n'));

	const char *fields = strstr(line, before);

	assert_non_null(fields);
	return fields + strlen(before);
}

#define ASSERT_FIELDS(expected, ...)                  \
	do {                                          \
		begin();                              \
		log_info("a test", __VA_ARGS__);      \
		assert_string_equal(end(), expected); \
	} while (0)

static void a_value_cannot_forge_fields(void **state)
{
	(void)state;
	ASSERT_FIELDS("path=\"/x\\\" level=error msg=\\\"forged\" status=404",
		      "path=\"%s\" status=%d", "/x\" level=error msg=\"forged", 404);
	ASSERT_FIELDS("path=\"\\\\\" end=1", "path=\"%s\" end=%d", "\\", 1);
	ASSERT_FIELDS("name=\"x level=error\"", "name=%s", "x level=error");
}

static void untrusted_text_cannot_start_a_log_line(void **state)
{
	(void)state;
	ASSERT_FIELDS("path=\"/x\\nts=2026 level=error \\u001b[31m\\u007f\\u009b2J\"",
		      "path=\"%s\"",
		      "/x\nts=2026 level=error \x1b[31m\x7f\xc2\x9b"
		      "2J");
}

static void a_value_is_quoted_only_if_it_must_be(void **state)
{
	static const struct {
		const char *value, *field;
	} rows[] = {
		{ "plain", "v=plain" },
		{ "/a/b-c.d:7", "v=/a/b-c.d:7" },
		{ "", "v=\"\"" },
		{ "a b", "v=\"a b\"" },
		{ "a=b", "v=\"a=b\"" },
		{ "a\"b", "v=\"a\\\"b\"" },
		{ "a\tb", "v=\"a\\u0009b\"" },
		{ "\xc3\xa9", "v=\xc3\xa9" },
		{ "\xff", "v=\"\xef\xbf\xbd\"" },
		{ "a\xe2\x82", "v=\"a\xef\xbf\xbd\xef\xbf\xbd\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		ASSERT_FIELDS(rows[i].field, "v=%s", rows[i].value);
}

static void conversions_have_their_values(void **state)
{
	str text = { "abcdef", 3 };

	(void)state;
	ASSERT_FIELDS("a=-1 b=4294967295 c=18446744073709551615 d=-9 e=7 f=1a g=ff",
		      "a=%d b=%u c=%ju d=%" PRId64 " e=%zu f=%x g=%" PRIx64, -1, 4294967295u,
		      UINTMAX_MAX, INT64_C(-9), (size_t)7, 26u, UINT64_C(255));
	ASSERT_FIELDS("a=abc b=\"\" c=100%", "a=" STR_FMT " b=" STR_FMT " c=%d%%", STR_ARG(text),
		      STR_ARG(none), 100);
	errno = ENOENT;
	ASSERT_FIELDS("error=\"No such file or directory\"", "error=%m");
}

static void long_fields_are_cut_and_stay_well_formed(void **state)
{
	enum { LONG = 3000, MOST = LOG_FIELDS_MAX };
	uint64_t before = log_lines_truncated();
	char text[LONG + 1];

	(void)state;
	memset(text, '"', LONG);
	text[LONG] = '\0';
	begin();
	log_info("a test", "a=1 b=\"%s\" c=%d", text, 7);

	const char *fields = end();
	size_t len = strlen(fields);

	assert_true(len <= MOST && len > MOST - 4);
	assert_true(str_starts_with(str_from(fields), STR("a=1 b=\"\\\"")));
	assert_true(fields[len - 1] == '"' && fields[len - 2] == '"' && fields[len - 3] == '\\');
	begin();
	log_info("a test", "b=%s c=%d", text, 7);
	fields = end();
	len = strlen(fields);
	assert_true(fields[len - 1] == '"' && fields[len - 2] == '"' && fields[len - 3] == '\\');
	assert_int_equal(log_lines_truncated(), before + 2);
	text[MOST - 3] = '\0'; /* the longest that fits: one byte is left for a closing quote */
	memset(text, 'x', MOST - 3);
	begin();
	log_info("a test", "c=%s", text);
	assert_int_equal(strlen(end()), MOST - 1);
	begin();
	log_debug("below the threshold: not written", "c=%s%s", text, text);
	log_info("a test", "c=%sx", text);
	end();
	assert_int_equal(log_lines_truncated(), before + 3);
}

static void nothing_is_written_below_the_threshold(void **state)
{
	(void)state;
	begin();
	log_debug("below the threshold", "x=%d", 1);
	log_info("a test", "x=%d", 2);
	assert_string_equal(end(), "x=2");
}

RUN_TESTS(TEST(a_value_cannot_forge_fields), TEST(untrusted_text_cannot_start_a_log_line),
	  TEST(a_value_is_quoted_only_if_it_must_be), TEST(conversions_have_their_values),
	  TEST(long_fields_are_cut_and_stay_well_formed),
	  TEST(nothing_is_written_below_the_threshold))
