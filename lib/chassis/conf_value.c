// SPDX-License-Identifier: Apache-2.0
/*
 * A part of conf: one setting's text becomes its value, with units and bounds.
 */
#include "base/log.h"
#include "chassis/conf_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { BOUND_TEXT_MAX = 32 };

/* A suffix and what it multiplies by. */
struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit duration_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", UINT64_C(60) * 1000000000 },
	{ "h", UINT64_C(3600) * 1000000000 },
	{ "d", UINT64_C(86400) * 1000000000 },
	{ "w", UINT64_C(7) * 86400 * 1000000000 },
};

static const struct unit bytes_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "KB", UINT64_C(1) << 10 },
	{ "MB", UINT64_C(1) << 20 },
	{ "GB", UINT64_C(1) << 30 },
	{ "TB", UINT64_C(1) << 40 },
};

/* Takes "12" and its unit off the front of the text, and adds what they say to the sum. */
static bool take_amount(str *text, const struct unit *units, size_t unit_count, uint64_t *sum)
{
	size_t digits = 0, letters = 0;
	uint64_t number, amount;

	while (digits < text->len && isdigit((unsigned char)text->ptr[digits]))
		digits++;
	while (digits + letters < text->len && isalpha((unsigned char)text->ptr[digits + letters]))
		letters++;

	str unit = { text->ptr + digits, letters };

	if (!str_to_u64((str){ text->ptr, digits }, &number))
		return false;
	*text = str_skip(*text, digits + letters);
	for (size_t i = 0; i < unit_count; i++)
		if (str_eq(unit, str_from(units[i].name)))
			return !__builtin_mul_overflow(number, units[i].factor, &amount) &&
			       !__builtin_add_overflow(*sum, amount, sum);
	return false;
}

bool conf_duration(str text, uint64_t *ret_ns, struct err *err)
{
	uint64_t sum = 0;
	str rest = text;

	if (str_eq(text, STR("0"))) {
		*ret_ns = 0;
		return true;
	}
	do {
		if (!take_amount(&rest, duration_units, ARRAY_LEN(duration_units), &sum))
			return err_set(err, ERR_INVALID,
				       "\"" STR_FMT "\" is not a duration like 10s, 500ms, 1h30m",
				       STR_ARG(text));
	} while (rest.len);
	*ret_ns = sum;
	return true;
}

bool conf_bytes(str text, uint64_t *ret_bytes, struct err *err)
{
	uint64_t sum = 0;
	str rest = text;

	if (!take_amount(&rest, bytes_units, ARRAY_LEN(bytes_units), &sum) || rest.len)
		return err_set(err, ERR_INVALID,
			       "\"" STR_FMT "\" is not a size like 65536, 64KB, 512MB",
			       STR_ARG(text));
	*ret_bytes = sum;
	return true;
}

/* A bound as people write it: 90s, 64KB; in the largest unit of which it is a whole number. */
static void bound_text(const struct conf_key *key, uint64_t bound, char *room, size_t cap)
{
	bool is_duration = key->type == CONF_DURATION;
	const struct unit *units = is_duration ? duration_units : bytes_units;
	size_t at = is_duration               ? ARRAY_LEN(duration_units) - 1
		    : key->type == CONF_BYTES ? ARRAY_LEN(bytes_units) - 1
					      : 0; /* a number has no unit */

	while (at > 0 && (bound == 0 || bound % units[at].factor != 0))
		at--;
	snprintf(room, cap, "%ju%s", (uintmax_t)(bound / units[at].factor),
		 bound ? units[at].name : "");
}

static bool in_bounds(const struct conf_key *key, uint64_t value, struct err *err)
{
	char least[BOUND_TEXT_MAX], most[BOUND_TEXT_MAX];

	if (value >= key->min && (key->max == 0 || value <= key->max))
		return true;
	bound_text(key, key->min, least, sizeof(least));
	bound_text(key, key->max, most, sizeof(most));
	if (key->max == 0)
		return err_set(err, ERR_INVALID, "must be at least %s", least);
	return err_set(err, ERR_INVALID, "must be %s to %s", least, most);
}

static bool parse_bool(str text, bool *ret_value, struct err *err)
{
	bool yes = str_eq(text, STR("true"));

	if (!yes && !str_eq(text, STR("false")))
		return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is neither true nor false",
			       STR_ARG(text));
	*ret_value = yes;
	return true;
}

static bool parse_log_level(str text, enum log_level *ret_level, struct err *err)
{
	for (int level = 0; level < LOG_LEVEL_COUNT; level++) {
		if (str_eq(text, str_from(log_level_names[level]))) {
			*ret_level = (enum log_level)level;
			return true;
		}
	}
	return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is none of debug, info, warn, error",
		       STR_ARG(text));
}

static bool parse_number(const struct conf_key *key, str text, uint64_t *ret_value, struct err *err)
{
	uint64_t value;

	if (key->type == CONF_DURATION) {
		if (!conf_duration(text, &value, err))
			return false;
	} else if (key->type == CONF_BYTES) {
		if (!conf_bytes(text, &value, err))
			return false;
	} else if (!str_to_u64(text, &value)) {
		return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not a number", STR_ARG(text));
	}
	if (!in_bounds(key, value, err))
		return false;
	*ret_value = value;
	return true;
}

bool conf_assign(void *settings, const struct conf_key *key, const char *text, struct err *err)
{
	void *field = (char *)settings + key->offset;

	switch (key->type) {
	case CONF_STR:
		*(const char **)field = text;
		return true;
	case CONF_BOOL:
		return parse_bool(str_from(text), field, err);
	case CONF_LOG_LEVEL:
		return parse_log_level(str_from(text), field, err);
	case CONF_U64:
	case CONF_DURATION:
	case CONF_BYTES:
		return parse_number(key, str_from(text), field, err);
	}
	return err_set(err, ERR_INVALID, "the table of settings has a type that does not exist");
}

const char *conf_environment_name(const struct conf_key *key, char *name, size_t cap)
{
	int len = snprintf(name, cap, "DECIMA_%s", key->flag);

	for (int i = 0; i < len && (size_t)i < cap; i++)
		name[i] = (char)(name[i] == '-' ? '_' : toupper((unsigned char)name[i]));
	return name;
}
