// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"
#include "server/config/conf.h"
#include "server/metrics/metrics.h"
#include "support/test.h"

#include <stdio.h>

struct settings {
	const char *brokers, *extra;
};

static const struct conf_key keys[] = {
	{ .flag = "kafka-brokers",
	  .type = CONF_STR,
	  .offset = offsetof(struct settings, brokers),
	  .fallback = "a|b",
	  .help = "Where Kafka is, in a sentence that is long enough not to fit into one line of "
		  "the "
		  "output of --help." },
	{ .flag = "extra",
	  .type = CONF_STR,
	  .offset = offsetof(struct settings, extra),
	  .help = "This | that." },
};
static const struct conf_program program = {
	.name = "decima-test", .summary = "A test.", .keys = keys, .key_count = ARRAY_LEN(keys)
};

/* The text that the flag prints on stdout. */
static str printed(char *flag, struct arena *arena)
{
	struct settings settings = { 0 };
	enum conf_action action;
	struct err err;
	char name[] = "decima-test", *argv[] = { name, flag };
	char *text = arena_array(arena, char, 8192);
	FILE *file = tmpfile();
	int saved = dup(STDOUT_FILENO);

	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	assert_true(conf_load(&settings, &program, 2, argv, &action, &err));
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(file);

	str out = { text, fread(text, 1, 8192, file) };

	fclose(file);
	assert_int_equal(action, CONF_EXIT);
	return out;
}

static const char *const reasons[] = { "ring_full", "gap" };
static struct metric lost = { .name = "decima_test_lost_total",
			      .kind = METRIC_COUNTER,
			      .help = "Lost.",
			      .label = "reason",
			      .values = reasons,
			      .value_count = ARRAY_LEN(reasons) };

static void markdown_is_a_table_of_settings_or_of_metrics(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct metric *const metrics[] = { &lost, NULL };
	str text = printed((char[]){ "--print-configuration" }, &arena);

	(void)state;
	assert_true(str_starts_with(text, STR("## decima-test\n\nA test.\n\n| flag |")));
	assert_true(str_find(text, STR("| `--kafka-brokers` | `DECIMA_KAFKA_BROKERS` | "
				       "`a&#124;b` | Where Kafka is")) != SIZE_MAX);
	assert_true(str_ends_with(text, STR("| `--extra` | `DECIMA_EXTRA` |  | This &#124; that. "
					    "|\n")));

	metrics_register(metrics);
	text = printed((char[]){ "--print-metrics" }, &arena);
	assert_true(str_starts_with(text, STR("## decima-test\n\n| metric |")));
	assert_true(str_ends_with(text, STR("| `decima_test_lost_total` | counter | "
					    "`reason`: ring_full, gap | Lost. |\n")));
}

static void help_names_every_flag_and_wraps(void **state)
{
	AUTO_ARENA arena = { 0 };
	str text = printed((char[]){ "--help" }, &arena);

	(void)state;
	assert_true(str_find(text, STR("--kafka-brokers=a|b  (DECIMA_KAFKA_BROKERS)")) != SIZE_MAX);
	assert_true(str_find(text, STR("--healthcheck")) != SIZE_MAX);
	while (text.len)
		assert_true(str_cut(&text, '\n').len <= 100);
}

RUN_TESTS(TEST(markdown_is_a_table_of_settings_or_of_metrics),
	  TEST(help_names_every_flag_and_wraps))
