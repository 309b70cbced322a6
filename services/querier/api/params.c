// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "profile/limits.h"
#include "querier/api/params_internal.h"
#include "server/config/conf.h"

#include <stdio.h>

static bool parse_digits(str *rest, size_t count, uint64_t *ret_value)
{
	str digits = { rest->ptr, count };

	if (rest->len < count || !str_to_u64(digits, ret_value))
		return false;
	*rest = str_skip(*rest, count);
	return true;
}

static bool parse_char(str *rest, char c)
{
	if (rest->len == 0 || rest->ptr[0] != c)
		return false;
	*rest = str_skip(*rest, 1);
	return true;
}

/* ".123" to milliseconds, rounded up. No dot: 0. */
static bool parse_fraction(str *rest, uint64_t *ret_ms)
{
	uint64_t ms = 0, scale = 100;
	bool finer = false;
	size_t digits = 0;

	*ret_ms = 0;
	if (!parse_char(rest, '.'))
		return true;
	for (; rest->len && rest->ptr[0] >= '0' && rest->ptr[0] <= '9'; digits++) {
		uint64_t digit = (uint64_t)(rest->ptr[0] - '0');

		ms += digit * scale;
		finer = finer || (scale == 0 && digit > 0);
		scale /= 10;
		*rest = str_skip(*rest, 1);
	}
	*ret_ms = ms + finer;
	return digits > 0;
}

static bool parse_unix_seconds(str text, uint64_t *ret_ms)
{
	size_t digits = 0;
	uint64_t seconds, ms;

	while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
		digits++;
	if (digits > 12 || !parse_digits(&text, digits, &seconds) || !parse_fraction(&text, &ms) ||
	    text.len)
		return false;
	*ret_ms = seconds * 1000 + ms;
	return true;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar, from 1970 on. */
static uint64_t days_since_1970(uint64_t year, uint64_t month, uint64_t day)
{
	/* Years begin in March here, so that the leap day is the last day of a year. */
	uint64_t y = month <= 2 ? year - 1 : year;
	uint64_t m = month <= 2 ? month + 9 : month - 3;

	return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

static bool parse_date(str *rest, uint64_t *ret_days)
{
	static const unsigned char month_days[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};
	uint64_t year, month, day;

	if (!parse_digits(rest, 4, &year) || !parse_char(rest, '-') ||
	    !parse_digits(rest, 2, &month) || !parse_char(rest, '-') ||
	    !parse_digits(rest, 2, &day))
		return false;
	if (year < 1970 || month < 1 || month > 12)
		return false;

	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	if (day < 1 || day > month_days[month - 1] + (uint64_t)(leap && month == 2))
		return false;
	*ret_days = days_since_1970(year, month, day);
	return true;
}

/* "Z" or "+02:00", in seconds east of Greenwich. */
static bool parse_zone(str *rest, int64_t *ret_seconds)
{
	uint64_t hours, minutes;

	if (parse_char(rest, 'Z') || parse_char(rest, 'z')) {
		*ret_seconds = 0;
		return true;
	}

	bool west = rest->len && rest->ptr[0] == '-';

	if (!parse_char(rest, '+') && !parse_char(rest, '-'))
		return false;
	if (!parse_digits(rest, 2, &hours) || !parse_char(rest, ':') ||
	    !parse_digits(rest, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret_seconds = (int64_t)(hours * 3600 + minutes * 60) * (west ? -1 : 1);
	return true;
}

static bool parse_rfc3339(str text, uint64_t *ret_ms)
{
	uint64_t days, hours, minutes, seconds, ms;
	int64_t zone;

	if (!parse_date(&text, &days) || (!parse_char(&text, 'T') && !parse_char(&text, 't')))
		return false;
	if (!parse_digits(&text, 2, &hours) || !parse_char(&text, ':') ||
	    !parse_digits(&text, 2, &minutes) || !parse_char(&text, ':') ||
	    !parse_digits(&text, 2, &seconds) || !parse_fraction(&text, &ms))
		return false;
	if (hours > 23 || minutes > 59 || seconds > 60 || !parse_zone(&text, &zone) || text.len)
		return false;

	int64_t whole = (int64_t)(days * 86400 + hours * 3600 + minutes * 60 + seconds) - zone;

	if (whole < 0)
		return false;
	*ret_ms = (uint64_t)whole * 1000 + ms;
	return true;
}

bool params_time(str text, uint64_t *ret_ms, struct err *err)
{
	uint64_t ms;

	if (!parse_unix_seconds(text, &ms) && !parse_rfc3339(text, &ms))
		return err_set(err, ERR_INVALID,
			       "\"" STR_FMT "\" is not a time: Unix seconds like 1787479200.5 or "
			       "RFC 3339 like 2026-08-22T10:00:00Z",
			       (int)(text.len < 64 ? text.len : 64), text.ptr);
	if (ms > TIME_MAX_MS)
		return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is after the year 9999",
			       STR_ARG(text));
	*ret_ms = ms;
	return true;
}

bool params_window(const struct http_request *req, const char *prefix, uint64_t now_ms,
		   struct window *ret_window, struct err *err)
{
	char start_name[16], end_name[16];

	snprintf(start_name, sizeof(start_name), "%sstart", prefix);
	snprintf(end_name, sizeof(end_name), "%send", prefix);

	str start = http_query(req, start_name), end = http_query(req, end_name);
	struct window window = { .end_ms = now_ms };

	if (end.len && !params_time(end, &window.end_ms, err))
		return err_wrap(err, "%s", end_name);
	window.start_ms = window.end_ms > DEFAULT_WINDOW_MS ? window.end_ms - DEFAULT_WINDOW_MS : 0;
	if (start.len && !params_time(start, &window.start_ms, err))
		return err_wrap(err, "%s", start_name);
	if (window.start_ms >= window.end_ms)
		return err_set(err, ERR_INVALID, "%s must be before %s", start_name, end_name);
	*ret_window = window;
	return true;
}

bool params_group_by(const char *param, str text, struct group_by *ret_group_by, struct err *err)
{
	struct group_by group_by = { 0 };

	for (bool more = text.len > 0; more;) {
		more = str_find(text, STR(",")) < text.len;

		str name = str_trim(str_cut(&text, ','));

		if (name.len == 0)
			return err_set(
				err, ERR_INVALID,
				"%s: a label name is empty; names are separated by one comma",
				param);
		if (name.len > LABEL_NAME_MAX)
			return err_set(err, ERR_INVALID, "%s: a label name has at most %d bytes",
				       param, LABEL_NAME_MAX);
		if (group_by.len == GROUP_BY_MAX)
			return err_set(err, ERR_INVALID, "%s: at most %d labels", param,
				       GROUP_BY_MAX);
		for (size_t i = 0; i < group_by.len; i++)
			if (str_eq(group_by.names[i], name))
				return err_set(err, ERR_INVALID, "%s names " STR_FMT " twice",
					       param, STR_ARG(name));
		group_by.names[group_by.len++] = name;
	}
	*ret_group_by = group_by;
	return true;
}

/* Parse seconds, or a duration with a unit; it must be longer than 0. */
static bool parse_length(const char *param, str text, uint64_t *ret_ms, struct err *err)
{
	uint64_t ms, ns = 0;

	if (!parse_unix_seconds(text, &ms)) {
		if (!conf_duration(text, &ns, err))
			return err_set(err, ERR_INVALID,
				       "%s: \"" STR_FMT "\" is neither seconds like 15 or 0.5 nor "
				       "a duration like 1m30s",
				       param, (int)(text.len < 64 ? text.len : 64), text.ptr);
		ms = ns / NS_PER_MS;
	}
	if (ns % NS_PER_MS)
		return err_set(err, ERR_INVALID, "%s: must be whole milliseconds", param);
	if (ms == 0)
		return err_set(err, ERR_INVALID, "%s: must be longer than 0", param);
	*ret_ms = ms;
	return true;
}

bool params_timeout(const struct http_request *req, uint64_t max_ns, uint64_t *ret_ns,
		    struct err *err)
{
	str text = http_query(req, "timeout");
	uint64_t ms = max_ns / NS_PER_MS;

	if (text.len && !parse_length("timeout", text, &ms, err))
		return false;
	*ret_ns = ms < max_ns / NS_PER_MS ? ms * NS_PER_MS : max_ns;
	return true;
}

bool params_step(const struct http_request *req, const struct window *window, uint64_t *ret_step_ms,
		 struct err *err)
{
	str text = http_query(req, "step");
	uint64_t length_ms = window->end_ms - window->start_ms;
	uint64_t seconds = (length_ms + DEFAULT_STEPS * 1000 - 1) / (DEFAULT_STEPS * 1000);
	uint64_t step_ms = seconds * 1000;

	if (step_ms > MS_PER_HOUR / 2)
		step_ms = (step_ms + MS_PER_HOUR - 1) / MS_PER_HOUR * MS_PER_HOUR;
	if (text.len && !parse_length("step", text, &step_ms, err))
		return false;
	if ((length_ms - 1) / step_ms >= STEPS_MAX)
		return err_set(err, ERR_INVALID,
			       "step: the window has more than %d steps; ask for longer ones",
			       STEPS_MAX);
	*ret_step_ms = step_ms;
	return true;
}

uint64_t params_steps_start(const struct http_request *req, const struct window *window,
			    uint64_t step_ms)
{
	bool aligned =
		http_query(req, "step").len == 0 || str_eq(http_query(req, "align"), STR("1"));

	uint64_t unit_ms = step_ms % MS_PER_DAY == 0 ? MS_PER_DAY : MS_PER_HOUR;

	return aligned && step_ms % unit_ms == 0 ? window->start_ms - window->start_ms % unit_ms
						 : window->start_ms;
}

bool params_limit(const struct http_request *req, size_t *ret_limit, struct err *err)
{
	str text = http_query(req, "limit");
	uint64_t limit = 0;

	if (text.len && !str_to_u64(text, &limit))
		return err_set(err, ERR_INVALID, "limit: must be a number of series, or 0 for all");
	*ret_limit = (size_t)limit;
	return true;
}
