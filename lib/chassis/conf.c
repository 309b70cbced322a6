// SPDX-License-Identifier: Apache-2.0
#include "conf.h"

#include "chassis/conf_parts.h"
#include "chassis/metrics.h"

#include <stdio.h>
#include <string.h>

/* Defaults, then the environment over them. A variable that is set but empty counts as unset. */
static bool load_surroundings(void *settings, const struct conf_program *program, struct err *err)
{
	for (size_t i = 0; i < program->key_count; i++) {
		const struct conf_key *key = &program->keys[i];
		char name[128];

		if (key->fallback && !conf_assign(settings, key, key->fallback, err))
			return err_wrap(err, "default of --%s", key->flag);

		/* NOLINTNEXTLINE(concurrency-mt-unsafe): before the first thread */
		const char *value = getenv(conf_environment_name(key, name, sizeof(name)));

		if (value && value[0] && !conf_assign(settings, key, value, err))
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

/* One argument, or two where the value stands apart; moves *at past them. */
static bool load_flag(void *settings, const struct conf_program *program, int argc, char **argv,
		      int *at, struct err *err)
{
	const char *arg = argv[(*at)++];
	const char *equals = strchr(arg, '=');
	str flag = { arg, equals ? (size_t)(equals - arg) : strlen(arg) };

	if (!str_starts_with(flag, STR("--")))
		return err_set(err, ERR_INVALID, "argument \"%s\" is not understood; see --help",
			       arg);

	const struct conf_key *key = find_key(program, str_skip(flag, 2));
	const char *value = equals ? equals + 1 : NULL;

	if (!key)
		return err_set(err, ERR_INVALID, "there is no flag " STR_FMT "; see --help",
			       STR_ARG(flag));
	if (!value && key->type == CONF_BOOL)
		value = "true";
	if (!value && *at < argc)
		value = argv[(*at)++];
	if (!value)
		return err_set(err, ERR_INVALID, "flag --%s needs a value", key->flag);
	if (!conf_assign(settings, key, value, err))
		return err_wrap(err, "flag --%s", key->flag);
	return true;
}

/* The flags every program has. False: it is none of them. */
static bool answer_common(const struct conf_program *program, str arg, enum conf_action *action)
{
	if (str_eq(arg, STR("--help")) || str_eq(arg, STR("-h"))) {
		conf_print_help(program);
		*action = CONF_EXIT;
	} else if (str_eq(arg, STR("--version"))) {
		printf("%s %s\n", program->name, DECIMA_VERSION);
		*action = CONF_EXIT;
	} else if (str_eq(arg, STR("--print-configuration"))) {
		conf_print_markdown(program);
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

	if (!load_surroundings(settings, program, err))
		return false;
	for (int at = 1; at < argc && action != CONF_EXIT;) {
		if (answer_common(program, str_from(argv[at]), &action))
			at++;
		else if (!load_flag(settings, program, argc, argv, &at, err))
			return false;
	}
	*ret_action = action;
	return true;
}
