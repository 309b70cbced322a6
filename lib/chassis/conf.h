// SPDX-License-Identifier: Apache-2.0
/*
 * conf - a service's settings, declared once in a table.
 *
 * Each row names a flag, the field it fills, its default and its help line. The same row answers
 * `--kafka-brokers=...` (or `--kafka-brokers ...`), the environment variable DECIMA_KAFKA_BROKERS,
 * --help and docs/configuration.md. A flag wins over the environment, that over the default.
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
	size_t offset; /* of the field in the settings struct */
	const char *fallback;
	uint64_t min, max; /* numbers, durations, bytes; max 0: no upper bound */
	const char *help;  /* one sentence, with the unit where there is one */
};

/* What the command line asked for. */
enum conf_action {
	CONF_RUN,
	CONF_EXIT,        /* --help, --version, --print-... were answered on stdout */
	CONF_HEALTHCHECK, /* ask the running service's /ready and exit 0 or 1 */
};

struct conf_program {
	const char *name;    /* decima-agent */
	const char *summary; /* one sentence */
	const struct conf_key *keys;
	size_t key_count;
};

/*
 * Fill `settings` from argv, the environment and the defaults; texts point into argv, environ or
 * the table. An unknown flag, a stray argument or a bad value is an error that names it.
 * --print-configuration prints the table as Markdown (docs/configuration.md is made of it),
 * --print-metrics what is registered by then (docs/metrics.md).
 */
bool conf_load(void *settings, const struct conf_program *program, int argc, char **argv,
	       enum conf_action *ret_action, struct err *err) MUST_CHECK;

/* "10s", "1h30m", "250ms" to nanoseconds; "512MB" to bytes. */
bool conf_duration(str text, uint64_t *ret_ns, struct err *err) MUST_CHECK;
bool conf_bytes(str text, uint64_t *ret_bytes, struct err *err) MUST_CHECK;
