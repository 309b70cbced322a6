// SPDX-License-Identifier: Apache-2.0
/*
 * conf - parses a service's settings, which are declared in a table.
 *
 * Each row has a flag, the field that it sets, a default and a help text. From the same row come
 * `--kafka-brokers=...` (or `--kafka-brokers ...`), the environment variable DECIMA_KAFKA_BROKERS,
 * --help and docs/configuration.md. A flag overrides the environment, which overrides the default.
 *
 *     static const struct conf_key keys[] = {
 *             { "kafka-brokers", CONF_STR, offsetof(struct settings, brokers),
 *               .fallback = "localhost:9092", .help = "Kafka bootstrap servers" },
 *     };
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum conf_type {
	CONF_STR,      /* const char * */
	CONF_U64,      /* uint64_t */
	CONF_BOOL,     /* bool: --flag, --flag=true, --flag=false */
	CONF_DURATION, /* uint64_t, nanoseconds: 10s, 500ms, 7d, 1h30m */
	CONF_BYTES,    /* uint64_t, bytes: 65536, 64KB, 512MB, 2GB (powers of 1024) */
	CONF_LOG_LEVEL /* enum log_level: debug, info, warn, error */
};

struct conf_key {
	const char *flag; /* without the dashes */
	enum conf_type type;
	size_t offset;        /* of the field in the settings struct */
	const char *fallback; /* the default; NULL: the field is left as it is */
	uint64_t min, max;    /* of numbers, durations and bytes; max 0: no upper bound */
	const char *help;     /* one sentence, with the unit if there is one */
};

/* What the program must do after conf_load(). */
enum conf_action {
	CONF_RUN,
	CONF_EXIT,        /* exit: --help, --version or --print-... has been printed on stdout */
	CONF_HEALTHCHECK, /* check /ready of the running service and exit with 0 or 1 */
};

struct conf_program {
	const char *name;    /* decima-agent */
	const char *summary; /* one sentence */
	const struct conf_key *keys;
	size_t key_count;
};

/*
 * Set the fields of `settings` from argv, the environment and the defaults. Strings are borrowed
 * from argv, environ or the table. ERR_INVALID: an unknown flag, a stray argument or an invalid
 * value; the message names it. --print-configuration prints the table as Markdown for
 * docs/configuration.md, --print-metrics the registered metrics for docs/metrics.md. Reads the
 * environment: call it before the first thread.
 */
bool conf_load(void *settings, const struct conf_program *program, int argc, char **argv,
	       enum conf_action *ret_action, struct err *err) MUST_CHECK;

/* Parse "10s", "1h30m" or "250ms" to nanoseconds, "512MB" to bytes. ERR_INVALID: malformed or too
 * large. */
bool conf_duration(str text, uint64_t *ret_ns, struct err *err) MUST_CHECK;
bool conf_bytes(str text, uint64_t *ret_bytes, struct err *err) MUST_CHECK;
