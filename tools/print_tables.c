// SPDX-License-Identifier: Apache-2.0
/*
 * print-tables - prints tables of the sources as Markdown pages for docs/ (tools/docs.py).
 *
 *     print-tables labels|failpoints
 */
#include "agent/spool/failpoints.h"
#include "ingester/failpoints.h"
#include "profile/labels.h"
#include "profile/profile_type.h"

#include <stdio.h>

static void print_labels(bool of_sample)
{
	puts("| label | attribute | |\n|---|---|---|");
	for (size_t i = 0; i < label_source_count; i++) {
		const struct label_source *source = &label_sources[i];

		if (source->of_sample == of_sample)
			printf("| `%s` | `%s`%s | %s |\n", source->name, source->attribute,
			       source->is_int ? ", an integer" : "", source->help);
	}
}

static void print_types(void)
{
	puts("| profile type | alias | summed over time | |\n|---|---|---|---|");
	for (size_t i = 0; i < profile_type_count; i++)
		printf("| `%s` | `%s` | %s | %s |\n", profile_types[i].id, profile_types[i].alias,
		       profile_types[i].temporality == TEMPORALITY_GAUGE ? "no: a gauge" : "yes",
		       profile_types[i].help);
}

static void print_label_page(void)
{
	puts("# Labels and profile types\n\n"
	     "Generated from the tables in `lib/profile/labels.c` and `profile_type.c` by "
	     "`tools/docs.py build --write`.\n\n"
	     "## Labels of a series\n\n"
	     "They have few values and are indexed. They come from OTLP's resource attributes. Any "
	     "other attribute of a resource becomes a label\nwith the attribute's name, in which "
	     "dots are replaced by underscores.\n");
	print_labels(false);
	puts("\n## Labels of a sample\n\n"
	     "They are stored inside the rows. Queries can filter and group by them as by the "
	     "others, but they do not create series.\nAny other attribute of a sample, and labels "
	     "of "
	     "pprof, keep their own names; a link becomes `trace_id` and `span_id`.\n");
	print_labels(true);
	puts("\n## Profile types\n\n"
	     "`name:sample_type:sample_unit:period_type:period_unit`. Any well-formed type can be "
	     "stored "
	     "and queried; the ones below are\nknown to Decima. OTLP's `samples/count` with the "
	     "period "
	     "`cpu/nanoseconds` becomes CPU nanoseconds.\n");
	print_types();
}

static void print_failpoints(const struct failpoint_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		printf("| `%s` | %s | %s |\n", table->points[i]->name, table->program,
		       table->points[i]->where);
}

static void print_failpoint_page(void)
{
	puts("# Failpoints\n\n"
	     "Generated from the tables of failpoints of the agent and the ingester by "
	     "`tools/docs.py build --write`.\n\n"
	     "Failpoints are for tests and are off by default. With "
	     "`--failpoints=NAME=ACTION[:VISIT]` (several separated by commas) the process\nkills "
	     "itself (`kill`: SIGKILL) or suspends itself (`stop`: SIGSTOP, until a SIGCONT), "
	     "once, "
	     "when it reaches the place for the\nVISIT-th time (default 1). It logs a line "
	     "`msg=\"failpoint\" name=NAME` first. `tests/chaos/test_failpoints.py` verifies that "
	     "no "
	     "sample is lost or\ncounted twice at any failpoint.\n\n"
	     "| failpoint | program | place |\n|---|---|---|");
	print_failpoints(&agent_failpoints);
	print_failpoints(&ingester_failpoints);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "labels") == 0)
		print_label_page();
	else if (argc == 2 && strcmp(argv[1], "failpoints") == 0)
		print_failpoint_page();
	else
		return fprintf(stderr, "usage: print-tables labels|failpoints\n"), 2;
	return 0;
}
