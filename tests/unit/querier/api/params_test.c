// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "querier/api/params_internal.h"
#include "support/test.h"

#include <stdio.h>

static void reads_times_as_prometheus_does(void **state)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} rows[] = {
		{ "0", 0 },
		{ "1787479200", 1787479200000 },
		{ "1787479200.5", 1787479200500 },
		{ "1787479200.123", 1787479200123 },
		{ "1787479200.1230001", 1787479200124 },
		{ "1787479200.1230000", 1787479200123 },
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2000-02-29T12:34:56Z", 951827696000 },
		{ "2026-08-22T10:00:00Z", 1787392800000 },
		{ "2026-08-22T10:00:00.25Z", 1787392800250 },
		{ "2026-08-22T12:00:00+02:00", 1787392800000 },
		{ "2026-08-22T04:30:00-05:30", 1787392800000 },
		{ "9999-12-31T23:59:59Z", 253402300799000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err;
		uint64_t ms;

		if (!params_time(str_from(rows[i].text), &ms, &err))
			fail_msg("%s", err.msg);
		if (ms != rows[i].ms)
			fail_msg("%s is %ju", rows[i].text, (uintmax_t)ms);
	}
}

static void rejects_malformed_times(void **state)
{
	static const char *const rows[] = {
		"",
		"now",
		"-1",
		"+1",
		"1e9",
		"1.",
		".5",
		"1.5s",
		" 1",
		"1787479200000000",
		"999999999999",
		"2026-08-22",
		"2026-08-22T10:00:00",
		"2026-08-22 10:00:00Z",
		"2026-13-01T00:00:00Z",
		"2026-02-29T00:00:00Z",
		"2100-02-29T00:00:00Z",
		"2026-08-00T00:00:00Z",
		"2026-08-22T24:00:00Z",
		"2026-08-22T10:00:00+2:00",
		"2026-08-22T10:00:00Zx",
		"1969-12-31T23:59:59Z",
		"1970-01-01T00:00:00+01:00",
		"2026-08-22T10:00:00.Z",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err;
		uint64_t ms;

		if (params_time(str_from(rows[i]), &ms, &err))
			fail_msg("%s is %ju", rows[i], (uintmax_t)ms);
		assert_int_equal(err.code, ERR_INVALID);
	}
}

static bool window_of(const char *start, const char *end, struct window *window, struct err *err)
{
	struct http_param params[2];
	struct http_request req = { .params = params };

	if (start)
		params[req.param_count++] = (struct http_param){ STR("start"), str_from(start) };
	if (end)
		params[req.param_count++] = (struct http_param){ STR("end"), str_from(end) };
	return params_window(&req, "", 10000000, window, err);
}

static void a_window_defaults_to_the_last_hour(void **state)
{
	struct window window;
	struct err err;

	(void)state;
	assert_true(window_of(NULL, NULL, &window, &err));
	assert_true(window.start_ms == 6400000 && window.end_ms == 10000000);
	assert_true(window_of("1", NULL, &window, &err));
	assert_true(window.start_ms == 1000 && window.end_ms == 10000000);
	assert_true(window_of(NULL, "7200", &window, &err));
	assert_true(window.start_ms == 3600000 && window.end_ms == 7200000);
	assert_true(window_of(NULL, "60", &window, &err));
	assert_true(window.start_ms == 0 && window.end_ms == 60000);
}

static void a_window_must_not_be_empty(void **state)
{
	struct window window;
	struct err err;

	(void)state;
	assert_false(window_of("5", "5", &window, &err));
	assert_string_equal(err.msg, "start must be before end");
	assert_false(window_of("6", "5", &window, &err));
	assert_false(window_of("20000", NULL, &window, &err));
	assert_false(window_of("x", NULL, &window, &err));
	assert_true(str_starts_with(str_from(err.msg), STR("start: \"x\" is not a time")));
	assert_false(window_of(NULL, "0", &window, &err));
}

static void a_prefix_selects_the_parameters_of_a_window(void **state)
{
	const struct http_param params[] = { { STR("a_start"), STR("10") },
					     { STR("a_end"), STR("20") },
					     { STR("b_start"), STR("30") },
					     { STR("b_end"), STR("30") } };
	struct http_request req = { .params = params, .param_count = ARRAY_LEN(params) };
	struct window window;
	struct err err;

	(void)state;
	assert_true(params_window(&req, "a_", 99000, &window, &err));
	assert_true(window.start_ms == 10000 && window.end_ms == 20000);
	assert_false(params_window(&req, "b_", 99000, &window, &err));
	assert_string_equal(err.msg, "b_start must be before b_end");
}

static void groups_are_separated_by_commas(void **state)
{
	static const char *const with_empty_names[] = { ",", ",,,,", "a,", ",a", "a,,b", " " };
	struct group_by group_by;
	struct err err;

	(void)state;
	assert_true(params_group_by("group_by", (str){ 0 }, &group_by, &err));
	assert_int_equal(group_by.len, 0);
	assert_true(params_group_by("group_by", STR("comm, pid"), &group_by, &err));
	assert_int_equal(group_by.len, 2);
	assert_true(str_eq(group_by.names[1], STR("pid")));
	assert_false(params_group_by("group_by", STR("a,b,a"), &group_by, &err));
	for (size_t i = 0; i < ARRAY_LEN(with_empty_names); i++)
		assert_false(params_group_by("group_by", str_from(with_empty_names[i]), &group_by,
					     &err));
	assert_false(params_group_by("group_by", STR("a,b,c,d,e,f,g,h,i"), &group_by, &err));
}

static bool step_of(const char *step, uint64_t length_ms, uint64_t *ret_ms, struct err *err)
{
	const struct http_param param = { STR("step"), str_from(step) };
	const struct http_request req = { .params = &param, .param_count = step ? 1 : 0 };

	return params_step(&req, &(struct window){ 1000, 1000 + length_ms }, ret_ms, err);
}

static void a_step_is_seconds_or_a_duration(void **state)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} rows[] = {
		{ "15", 15000 },  { "0.5", 500 },     { "15s", 15000 },
		{ "250ms", 250 }, { "1m30s", 90000 }, { "1h", 3600000 },
	};
	uint64_t ms;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(step_of(rows[i].text, 60000, &ms, &err));
		assert_int_equal(ms, rows[i].ms);
	}
	/* Without a step the window has 250 steps of whole seconds. */
	assert_true(step_of(NULL, 60000, &ms, &err) && ms == 1000);
	assert_true(step_of("", 3600000, &ms, &err) && ms == 15000);
	/* Steps longer than half an hour are whole hours. */
	assert_true(step_of("", 450000000, &ms, &err) && ms == 1800000);
	assert_true(step_of("", 450001000, &ms, &err) && ms == 3600000);
	assert_true(step_of("", UINT64_C(30) * 86400000, &ms, &err) && ms == 3 * 3600000);
}

static void steps_of_hours_begin_at_a_whole_hour(void **state)
{
	static const struct {
		const char *step, *align;
		uint64_t step_ms, start_ms;
	} rows[] = {
		{ NULL, NULL, 3600000, 3600000 },  { NULL, NULL, 15000, 5000000 },
		{ "1h", NULL, 3600000, 5000000 },  { "1h", "1", 3600000, 3600000 },
		{ "1h", "yes", 3600000, 5000000 }, { "15", "1", 15000, 5000000 },
		{ "1d", "1", 86400000, 0 },        { NULL, NULL, 2 * 86400000, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_param params[2];
		struct http_request req = { .params = params };

		if (rows[i].step)
			params[req.param_count++] =
				(struct http_param){ STR("step"), str_from(rows[i].step) };
		if (rows[i].align)
			params[req.param_count++] =
				(struct http_param){ STR("align"), str_from(rows[i].align) };
		assert_int_equal(params_steps_start(&req, &(struct window){ 5000000, 90000000 },
						    rows[i].step_ms),
				 rows[i].start_ms);
	}
}

static void rejects_malformed_steps_and_too_many(void **state)
{
	static const char *const rows[] = { "0",   "0s",  "-5",  "x",   "5x",
					    "1e3", "5us", "NaN", "inf", "99999999999999999999" };
	uint64_t ms;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (step_of(rows[i], 60000, &ms, &err))
			fail_msg("%s is %ju ms", rows[i], (uintmax_t)ms);
		assert_int_equal(err.code, ERR_INVALID);
		assert_true(str_starts_with(str_from(err.msg), STR("step: ")));
	}
	assert_true(step_of("1", 11000000, &ms, &err));
	assert_false(step_of("1", 11000001, &ms, &err));
	assert_string_equal(err.msg, "step: the window has more than 11000 steps; ask for longer "
				     "ones");
}

static struct http_request request_of(const struct http_param *param)
{
	return (struct http_request){ .params = param, .param_count = 1 };
}

static void a_timeout_can_only_shorten_the_servers(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {
		{ "", 30 * NS_PER_SECOND },    { "2", 2 * NS_PER_SECOND },
		{ "0.5", NS_PER_SECOND / 2 },  { "1m", 30 * NS_PER_SECOND },
		{ "29s", 29 * NS_PER_SECOND },
	};
	struct err err;
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_param param = { STR("timeout"), str_from(rows[i].text) };
		struct http_request req = request_of(&param);

		assert_true(params_timeout(&req, 30 * NS_PER_SECOND, &ns, &err));
		assert_int_equal(ns, rows[i].ns);
	}

	struct http_param param = { STR("timeout"), STR("soon") };
	struct http_request req = request_of(&param);

	assert_false(params_timeout(&req, NS_PER_SECOND, &ns, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

static void a_limit_is_a_number_and_defaults_to_all(void **state)
{
	struct http_param param = { STR("limit"), STR("12") };
	struct http_request req = request_of(&param);
	struct err err;
	size_t limit;

	(void)state;
	assert_true(params_limit(&req, &limit, &err) && limit == 12);
	param.value = (str){ 0 };
	assert_true(params_limit(&req, &limit, &err) && limit == 0);
	param.value = STR("-1");
	assert_false(params_limit(&req, &limit, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

RUN_TESTS(TEST(reads_times_as_prometheus_does), TEST(rejects_malformed_times),
	  TEST(a_window_defaults_to_the_last_hour), TEST(a_window_must_not_be_empty),
	  TEST(a_prefix_selects_the_parameters_of_a_window), TEST(groups_are_separated_by_commas),
	  TEST(a_step_is_seconds_or_a_duration), TEST(steps_of_hours_begin_at_a_whole_hour),
	  TEST(rejects_malformed_steps_and_too_many), TEST(a_timeout_can_only_shorten_the_servers),
	  TEST(a_limit_is_a_number_and_defaults_to_all))
