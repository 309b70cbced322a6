// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "server/config/conf.h"
#include "support/test.h"

#include <string.h>

struct settings {
	const char *brokers;
	uint64_t rate, interval_ns, spool_bytes, timeout_ns, room_bytes;
	bool tracing;
	enum log_level level;
};

static const struct conf_key keys[] = {
	{ .flag = "kafka-brokers",
	  .type = CONF_STR,
	  .offset = offsetof(struct settings, brokers),
	  .fallback = "localhost:9092",
	  .help = "Where Kafka is." },
	{ .flag = "rate",
	  .type = CONF_U64,
	  .offset = offsetof(struct settings, rate),
	  .fallback = "19",
	  .min = 1,
	  .max = 1000,
	  .help = "Samples a second." },
	{ .flag = "interval",
	  .type = CONF_DURATION,
	  .offset = offsetof(struct settings, interval_ns),
	  .fallback = "10s",
	  .help = "How often." },
	{ .flag = "spool-max-bytes",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct settings, spool_bytes),
	  .fallback = "64MB",
	  .help = "How much." },
	{ .flag = "timeout",
	  .type = CONF_DURATION,
	  .offset = offsetof(struct settings, timeout_ns),
	  .fallback = "1m",
	  .min = 1500000000,
	  .max = UINT64_C(36) * 3600 * 1000000000,
	  .help = "How long." },
	{ .flag = "room",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct settings, room_bytes),
	  .fallback = "64KB",
	  .min = 1 << 16,
	  .help = "How much of it." },
	{ .flag = "tracing",
	  .type = CONF_BOOL,
	  .offset = offsetof(struct settings, tracing),
	  .fallback = "false",
	  .help = "Whether." },
	{ .flag = "log-level",
	  .type = CONF_LOG_LEVEL,
	  .offset = offsetof(struct settings, level),
	  .fallback = "info",
	  .help = "What is logged." },
};

static const struct conf_program program = {
	.name = "decima-test", .summary = "A test.", .keys = keys, .key_count = ARRAY_LEN(keys)
};

static bool load(struct settings *settings, struct err *err, enum conf_action *action, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return conf_load(settings, &program, argc, argv, action, err);
}

/* LOAD("--rate=5"): settings and err are the test's. */
#define LOAD(...)                      \
	load(&settings, &err, &action, \
	     (char *[]){ (char[]){ "decima-test" }, __VA_ARGS__ __VA_OPT__(, ) NULL })
#define ARG(text) ((char[]){ text })

static struct settings settings;
static enum conf_action action;
static struct err err;

static void fills_defaults(void **state)
{
	(void)state;
	assert_true(LOAD());
	assert_string_equal(settings.brokers, "localhost:9092");
	assert_true(settings.rate == 19 && settings.interval_ns == 10000000000);
	assert_true(settings.spool_bytes == 64 << 20 && !settings.tracing);
	assert_int_equal(settings.level, LOG_INFO);
	assert_int_equal(action, CONF_RUN);
}

static void accepts_values_after_equals_or_as_the_next_argument(void **state)
{
	(void)state;
	assert_true(LOAD(ARG("--rate=97"), ARG("--kafka-brokers"), ARG("k:1"), ARG("--tracing")));
	assert_true(settings.rate == 97 && settings.tracing);
	assert_string_equal(settings.brokers, "k:1");
	assert_true(LOAD(ARG("--tracing=false"), ARG("--rate=1"), ARG("--rate=2")));
	assert_true(settings.rate == 2 && !settings.tracing);
}

static void flag_overrides_environment_overrides_default(void **state)
{
	(void)state;
	setenv("DECIMA_KAFKA_BROKERS", "env:1", 1);
	setenv("DECIMA_RATE", "", 1);
	assert_true(LOAD());
	assert_string_equal(settings.brokers, "env:1");
	assert_true(settings.rate == 19); /* empty counts as unset */
	assert_true(LOAD(ARG("--kafka-brokers=flag:1")));
	assert_string_equal(settings.brokers, "flag:1");
	setenv("DECIMA_RATE", "many", 1);
	assert_false(LOAD());
	assert_string_equal(err.msg, "environment variable DECIMA_RATE: \"many\" is not a number");
	unsetenv("DECIMA_KAFKA_BROKERS");
	unsetenv("DECIMA_RATE");
}

static void an_error_names_the_invalid_flag_or_value(void **state)
{
	(void)state;
	assert_false(LOAD(ARG("--rat=1")));
	assert_string_equal(err.msg, "unknown flag --rat; see --help");
	assert_false(LOAD(ARG("now")));
	assert_string_equal(err.msg, "unexpected argument \"now\"; see --help");
	assert_false(LOAD(ARG("--rate")));
	assert_string_equal(err.msg, "flag --rate needs a value");
	assert_false(LOAD(ARG("--rate=1001")));
	assert_string_equal(err.msg, "flag --rate: must be 1 to 1000");
	assert_false(LOAD(ARG("--timeout=1s")));
	assert_string_equal(err.msg, "flag --timeout: must be 1500ms to 36h");
	assert_false(LOAD(ARG("--room=10")));
	assert_string_equal(err.msg, "flag --room: must be at least 64KB");
	assert_false(LOAD(ARG("--tracing=maybe")));
	assert_false(LOAD(ARG("--log-level=loud")));
}

static void healthcheck_keeps_the_other_flags(void **state)
{
	(void)state;
	assert_true(LOAD(ARG("--healthcheck"), ARG("--kafka-brokers=x:1")));
	assert_int_equal(action, CONF_HEALTHCHECK);
	assert_string_equal(settings.brokers, "x:1");
}

static void parses_durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns; /* UINT64_MAX: rejected */
	} rows[] = {
		{ "0", 0 },
		{ "10s", 10000000000 },
		{ "250ms", 250000000 },
		{ "1h30m", 5400000000000 },
		{ "7d", 604800000000000 },
		{ "1w", 604800000000000 },
		{ "5us", 5000 },
		{ "", UINT64_MAX },
		{ "10", UINT64_MAX },
		{ "s", UINT64_MAX },
		{ "-1s", UINT64_MAX },
		{ "1.5s", UINT64_MAX },
		{ "1s ", UINT64_MAX },
		{ "1parsec", UINT64_MAX },
		{ "99999999999999999999s", UINT64_MAX },
		{ "30000w", UINT64_MAX - 1 }, /* 18e18: still fits */
		{ "31000w", UINT64_MAX },
		{ "30000w30000w", UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t ns = 1;
		bool ok = conf_duration(str_from(rows[i].text), &ns, &err);

		assert_int_equal(ok, rows[i].ns != UINT64_MAX);
		if (ok && rows[i].ns != UINT64_MAX - 1)
			assert_true(ns == rows[i].ns);
	}
}

static void parses_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{ "0", 0 },
		{ "65536", 65536 },
		{ "1B", 1 },
		{ "64KB", 65536 },
		{ "512MB", 536870912 },
		{ "2GB", 2147483648 },
		{ "1TB", 1099511627776 },
		{ "", UINT64_MAX },
		{ "KB", UINT64_MAX },
		{ "1kb", UINT64_MAX },
		{ "1MB1", UINT64_MAX },
		{ "99999999999TB", UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t bytes = 1;
		bool ok = conf_bytes(str_from(rows[i].text), &bytes, &err);

		assert_int_equal(ok, rows[i].bytes != UINT64_MAX);
		if (ok)
			assert_true(bytes == rows[i].bytes);
	}
}

RUN_TESTS(TEST(fills_defaults), TEST(accepts_values_after_equals_or_as_the_next_argument),
	  TEST(flag_overrides_environment_overrides_default),
	  TEST(an_error_names_the_invalid_flag_or_value), TEST(healthcheck_keeps_the_other_flags),
	  TEST(parses_durations), TEST(parses_sizes))
