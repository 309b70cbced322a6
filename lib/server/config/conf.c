// SPDX-License-Identifier: Apache-2.0
#include "server/config/conf.h"

#include "base/log.h"
#include "server/metrics/metrics.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { BOUND_TEXT_MAX = 32 };

/* A unit suffix and its factor. */
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

/* Parse a number and its unit at the front of *text, skip them, and add the amount to *sum. */
static bool parse_amount(str *text, const struct unit *units, size_t unit_count, uint64_t *sum)
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
		if (!parse_amount(&rest, duration_units, ARRAY_LEN(duration_units), &sum))
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

	if (!parse_amount(&rest, bytes_units, ARRAY_LEN(bytes_units), &sum) || rest.len)
		return err_set(err, ERR_INVALID,
			       "\"" STR_FMT "\" is not a size like 65536, 64KB, 512MB",
			       STR_ARG(text));
	*ret_bytes = sum;
	return true;
}

/* Format a bound, as 90s or 64KB: in the largest unit of which it is a whole multiple. */
static void format_bound(const struct conf_key *key, uint64_t bound, char *text, size_t cap)
{
	bool is_duration = key->type == CONF_DURATION;
	const struct unit *units = is_duration ? duration_units : bytes_units;
	size_t at = is_duration               ? ARRAY_LEN(duration_units) - 1
		    : key->type == CONF_BYTES ? ARRAY_LEN(bytes_units) - 1
					      : 0; /* a number has no unit */

	while (at > 0 && (bound == 0 || bound % units[at].factor != 0))
		at--;
	snprintf(text, cap, "%ju%s", (uintmax_t)(bound / units[at].factor),
		 bound ? units[at].name : "");
}

static bool in_bounds(const struct conf_key *key, uint64_t value, struct err *err)
{
	char least[BOUND_TEXT_MAX], most[BOUND_TEXT_MAX];

	if (value >= key->min && (key->max == 0 || value <= key->max))
		return true;
	format_bound(key, key->min, least, sizeof(least));
	format_bound(key, key->max, most, sizeof(most));
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
	return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not one of debug, info, warn, error",
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

static bool assign(void *settings, const struct conf_key *key, const char *text, struct err *err)
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
	return err_set(err, ERR_INVALID, "unknown type in the table of settings");
}

static const char *environment_name(const struct conf_key *key, char *name, size_t cap)
{
	int len = snprintf(name, cap, "DECIMA_%s", key->flag);

	for (int i = 0; i < len && (size_t)i < cap; i++)
		name[i] = (char)(name[i] == '-' ? '_' : toupper((unsigned char)name[i]));
	return name;
}

static void print_wrapped(const char *text, int indent)
{
	str rest = str_from(text);
	int column = indent;

	printf("%*s", indent, "");
	while (rest.len) {
		str word = str_cut(&rest, ' ');

		if (column > indent && column + (int)word.len + 1 > 100) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		column += printf("%s" STR_FMT, column > indent ? " " : "", STR_ARG(word));
	}
	printf("\n");
}

static void print_help(const struct conf_program *program)
{
	printf("%s: %s\n\nUsage: %s [flags]\n\n", program->name, program->summary, program->name);
	for (size_t i = 0; i < program->key_count; i++) {
		const struct conf_key *key = &program->keys[i];
		char name[128];

		printf("  --%s=%s  (%s)\n", key->flag, key->fallback ? key->fallback : "",
		       environment_name(key, name, sizeof(name)));
		print_wrapped(key->help, 6);
	}
	printf("  --healthcheck\n");
	print_wrapped("Check /ready of the service at --http-address; exit with status 0 or 1.", 6);
	printf("  --print-configuration\n");
	print_wrapped("Print the table of settings as Markdown.", 6);
	printf("  --print-metrics\n");
	print_wrapped("Print the table of metrics as Markdown.", 6);
	printf("  --version\n  --help\n\n");
	print_wrapped("A flag overrides the environment variable in parentheses, which overrides "
		      "the default.",
		      0);
}

/* A bar would end the table cell, so it is written as an HTML entity. */
static void print_cell(const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			printf("&#124;");
		else
			putchar(*text);
	}
}

static void print_markdown(const struct conf_program *program)
{
	printf("## %s\n\n%s\n\n| flag | environment | default | description "
	       "|\n|---|---|---|---|\n",
	       program->name, program->summary);
	for (size_t i = 0; i < program->key_count; i++) {
		const struct conf_key *key = &program->keys[i];
		char name[128];
		bool shown = key->fallback && key->fallback[0];

		printf("| `--%s` | `%s` | %s", key->flag, environment_name(key, name, sizeof(name)),
		       shown ? "`" : "");
		if (shown)
			print_cell(key->fallback);
		printf("%s | ", shown ? "`" : "");
		print_cell(key->help);
		printf(" |\n");
	}
}

/* Load the defaults, then the environment. A variable that is set but empty counts as unset. */
static bool load_defaults_and_environment(void *settings, const struct conf_program *program,
					  struct err *err)
{
	for (size_t i = 0; i < program->key_count; i++) {
		const struct conf_key *key = &program->keys[i];
		char name[128];

		if (key->fallback && !assign(settings, key, key->fallback, err))
			return err_wrap(err, "default of --%s", key->flag);

		/* NOLINTNEXTLINE(concurrency-mt-unsafe): before the first thread */
		const char *value = getenv(environment_name(key, name, sizeof(name)));

		if (value && value[0] && !assign(settings, key, value, err))
			return err_wrap(err, "environment variable %s", name);
	}
	return true;
}

static const struct conf_key *find_key(const struct conf_program *program, str flag)
{
	for (size_t i = 0; i < program->key_count; i++)
		if (str_eq(str_from(program->keys[i].flag), flag))
			return &program->keys[i];
	return NULL;
}

/* Load one flag, whose value may be the next argument; moves *at past it. */
static bool load_flag(void *settings, const struct conf_program *program, int argc, char **argv,
		      int *at, struct err *err)
{
	const char *arg = argv[(*at)++];
	const char *equals = strchr(arg, '=');
	str flag = { arg, equals ? (size_t)(equals - arg) : strlen(arg) };

	if (!str_starts_with(flag, STR("--")))
		return err_set(err, ERR_INVALID, "unexpected argument \"%s\"; see --help", arg);

	const struct conf_key *key = find_key(program, str_skip(flag, 2));
	const char *value = equals ? equals + 1 : NULL;

	if (!key)
		return err_set(err, ERR_INVALID, "unknown flag " STR_FMT "; see --help",
			       STR_ARG(flag));
	if (!value && key->type == CONF_BOOL)
		value = "true";
	if (!value && *at < argc)
		value = argv[(*at)++];
	if (!value)
		return err_set(err, ERR_INVALID, "flag --%s needs a value", key->flag);
	if (!assign(settings, key, value, err))
		return err_wrap(err, "flag --%s", key->flag);
	return true;
}

/* Handle a flag that every program has. False: arg is not one of these. */
static bool handle_common(const struct conf_program *program, str arg, enum conf_action *action)
{
	if (str_eq(arg, STR("--help")) || str_eq(arg, STR("-h"))) {
		print_help(program);
		*action = CONF_EXIT;
	} else if (str_eq(arg, STR("--version"))) {
		printf("%s %s\n", program->name, DECIMA_VERSION);
		*action = CONF_EXIT;
	} else if (str_eq(arg, STR("--print-configuration"))) {
		print_markdown(program);
		*action = CONF_EXIT;
	} else if (str_eq(arg, STR("--print-metrics"))) {
		metrics_print_markdown(program->name);
		*action = CONF_EXIT;
	} else if (str_eq(arg, STR("--healthcheck"))) {
		*action = CONF_HEALTHCHECK;
	} else {
		return false;
	}
	return true;
}

bool conf_load(void *settings, const struct conf_program *program, int argc, char **argv,
	       enum conf_action *ret_action, struct err *err)
{
	enum conf_action action = CONF_RUN;

	if (!load_defaults_and_environment(settings, program, err))
		return false;
	for (int at = 1; at < argc && action != CONF_EXIT;) {
		if (handle_common(program, str_from(argv[at]), &action))
			at++;
		else if (!load_flag(settings, program, argc, argv, &at, err))
			return false;
	}
	*ret_action = action;
	return true;
}
