// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include "base/base_limits.h"
#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum { SPEC_MAX = 8 }; /* characters of a conversion, such as %.*s, and NUL */

const char *const log_level_names[LOG_LEVEL_COUNT] = {
	[LOG_DEBUG] = "debug",
	[LOG_INFO] = "info",
	[LOG_WARN] = "warn",
	[LOG_ERROR] = "error",
};
static const char *log_service = "?";
static enum log_level log_threshold = LOG_INFO;
static _Atomic uint64_t lines_truncated;

void log_init(const char *service, enum log_level level)
{
	log_service = service;
	log_threshold = level;
}

/* The fields of an event while they are written. */
struct fields {
	char text[LOG_FIELDS_MAX + 1];
	size_t len;
	bool is_quoted; /* a quote of the format is open */
	bool is_full;   /* a part did not fit; nothing is added after it */
};

/* Add the part as a whole or not at all. One byte stays free for a closing quote. */
static void put(struct fields *fields, str part)
{
	fields->is_full = fields->is_full || part.len > LOG_FIELDS_MAX - 1 - fields->len;
	if (fields->is_full)
		return;
	memcpy(fields->text + fields->len, part.ptr, part.len);
	fields->len += part.len;
}

/* C1 control characters, U+0080 to U+009f, are commands for some terminals. */
static bool is_c1(str character)
{
	return character.len == 2 && character.ptr[0] == '\xc2' &&
	       (unsigned char)character.ptr[1] < 0xa0;
}

/* One character of a value, or one byte that is not part of valid UTF-8. */
static void put_escaped(struct fields *fields, str character, bool is_valid)
{
	unsigned char c = (unsigned char)character.ptr[character.len - 1];
	char escape[8];

	if (!is_valid) {
		put(fields, STR("\xef\xbf\xbd")); /* U+FFFD */
	} else if (c == '"' || c == '\\') {
		put(fields, (str){ (char[]){ '\\', (char)c }, 2 });
	} else if (c == '\n') {
		put(fields, STR("\\n"));
	} else if (c < ' ' || c == 0x7f || is_c1(character)) {
		snprintf(escape, sizeof(escape), "\\u%04x", c);
		put(fields, str_from(escape));
	} else {
		put(fields, character);
	}
}

/* The characters that end or begin a logfmt value, and those that must be escaped. */
static bool needs_quotes(str value)
{
	for (size_t i = 0; i < value.len; i++)
		if ((unsigned char)value.ptr[i] <= ' ' || value.ptr[i] == 0x7f ||
		    strchr("\"=\\", value.ptr[i]))
			return true;
	return value.len == 0 || !str_is_utf8(value);
}

/* A value, which may be untrusted: escaped, and in quotes where it needs them. */
static void put_value(struct fields *fields, str value)
{
	bool needs = !fields->is_quoted && needs_quotes(value);

	if (needs)
		put(fields, STR("\""));
	fields->is_quoted |= needs;
	while (value.len && !fields->is_full) {
		size_t len = str_utf8_len(value), step = len ? len : 1;

		put_escaped(fields, (str){ value.ptr, step }, len > 0);
		value = str_skip(value, step);
	}
	if (needs && !fields->is_full) {
		put(fields, STR("\""));
		fields->is_quoted = false;
	}
}

/* Numbers have no character that needs an escape. */
static void put_number(struct fields *fields, const char *spec, char kind, va_list *args)
{
	_Static_assert(sizeof(size_t) == sizeof(uintmax_t) && sizeof(long) == sizeof(intmax_t),
		       "z, j and l have one size");
	bool is_long = strpbrk(spec, "zjl");
	char text[32];

	if (kind == 'd')
		snprintf(text, sizeof(text), "%jd",
			 is_long ? va_arg(*args, intmax_t) : va_arg(*args, int));
	else
		snprintf(text, sizeof(text), kind == 'x' ? "%jx" : "%ju",
			 is_long ? va_arg(*args, uintmax_t) : va_arg(*args, unsigned int));
	put(fields, str_from(text));
}

static void put_text(struct fields *fields, const char *spec, va_list *args)
{
	int most = INT32_MAX;

	if (strcmp(spec, "%.*s") == 0)
		most = va_arg(*args, int);
	else
		assert(strcmp(spec, "%s") == 0);

	const char *text = va_arg(*args, const char *);

	put_value(fields, (str){ text, most > 0 && text ? strnlen(text, (size_t)most) : 0 });
}

/* Format one conversion; returns its length. */
static size_t put_conversion(struct fields *fields, const char *format, va_list *args)
{
	size_t len = strspn(format + 1, ".*zjl") + 2;
	char spec[SPEC_MAX], text[128], kind = format[len - 1];

	assert(len < sizeof(spec));
	memcpy(spec, format, len);
	spec[len] = '\0';
	switch (kind) {
	case '%':
		put(fields, STR("%"));
		break;
	case 's':
		put_text(fields, spec, args);
		break;
	case 'm':
		snprintf(text, sizeof(text), "%m");
		put_value(fields, str_from(text));
		break;
	default:
		assert(strchr("dux", kind));
		put_number(fields, spec, kind, args);
	}
	return len;
}

static void format_fields(struct fields *fields, const char *format, va_list *args)
{
	while (*format && !fields->is_full) {
		size_t len = strcspn(format, "%\"");

		put(fields, (str){ format, len });
		format += len;
		if (*format == '%') {
			format += put_conversion(fields, format, args);
		} else if (*format && !fields->is_full) {
			put(fields, STR("\""));
			fields->is_quoted = !fields->is_quoted || fields->is_full;
			format++;
		}
	}
	if (fields->is_quoted)
		fields->text[fields->len++] = '"';
	fields->text[fields->len] = '\0';
}

uint64_t log_lines_truncated(void)
{
	return lines_truncated;
}

void log_write(enum log_level level, const char *msg, const char *format, ...)
{
	struct fields fields = { .len = 0 };
	int saved = errno;
	struct timespec now;
	struct tm tm;
	char when[32];
	va_list args;

	if (level < log_threshold)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(when, sizeof(when), "%FT%T", &tm);
	errno = saved; /* of %m */
	va_start(args, format);
	format_fields(&fields, format, &args);
	va_end(args);
	lines_truncated += fields.is_full;
	/* One write per line, so that lines of several threads do not interleave. */
	fprintf(stderr, "ts=%s.%03ldZ level=%s svc=%s msg=\"%s\" %s\n", when, now.tv_nsec / 1000000,
		log_level_names[level], log_service, msg, fields.text);
}
