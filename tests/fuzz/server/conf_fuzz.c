// SPDX-License-Identifier: Apache-2.0
/*
 * conf - any text for settings of every type gives a value within its bounds, or an error.
 */
#include "base/log.h"
#include "server/config/conf.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LEAST = 2, MOST = 1 << 20 };

struct settings {
	const char *text;
	uint64_t number, duration, bytes;
	bool flag;
	enum log_level level;
};

static const struct conf_key keys[] = {
	{ "text", CONF_STR, offsetof(struct settings, text) },
	{ "number", CONF_U64, offsetof(struct settings, number), .min = LEAST, .max = MOST },
	{ "duration", CONF_DURATION, offsetof(struct settings, duration), .min = LEAST },
	{ "bytes", CONF_BYTES, offsetof(struct settings, bytes), .min = LEAST, .max = MOST },
	{ "flag", CONF_BOOL, offsetof(struct settings, flag) },
	{ "level", CONF_LOG_LEVEL, offsetof(struct settings, level) },
};

static const struct conf_program program = { .name = "conf-fuzz",
					     .keys = keys,
					     .key_count = ARRAY_LEN(keys) };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct settings settings = { "", LEAST, LEAST, LEAST, false, LOG_INFO };
	const char *text = str_z(&arena, (str){ (const char *)data, size });
	char name[] = "conf-fuzz";

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct err err = { 0 };
		enum conf_action action;
		size_t cap = strlen(keys[i].flag) + size + sizeof("--=");
		char *flag = arena_array(&arena, char, cap);
		char *argv[] = { name, flag };

		snprintf(flag, cap, "--%s=%s", keys[i].flag, text);

		if (!conf_load(&settings, &program, 2, argv, &action, &err))
			assert(err.code == ERR_INVALID && err.msg[0]);
	}
	assert(str_eq(str_from(settings.text), str_from(text)));
	assert(settings.number >= LEAST && settings.number <= MOST);
	assert(settings.duration >= LEAST);
	assert(settings.bytes >= LEAST && settings.bytes <= MOST);
	assert(settings.level < LOG_LEVEL_COUNT);
	return 0;
}
