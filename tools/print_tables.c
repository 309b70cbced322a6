// SPDX-License-Identifier: Apache-2.0
/*
 * print-tables - tables of the source as Markdown: tools/docs.py makes pages of docs/ of them.
 *
 *     print-tables labels|failpoints
 */
#include "base/failpoint.h"
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
	puts("| profile type | short | adds up over time | |\n|---|---|---|---|");
	for (size_t i = 0; i < profile_type_count; i++)
		printf("| `%s` | `%s` | %s | %s |\n", profile_types[i].id, profile_types[i].alias,
		       profile_types[i].temporality == TEMPORALITY_GAUGE ? "no: a state" : "yes",
		       profile_types[i].help);
}

static void print_label_page(void)
{
	puts("# Labels and profile types\n\n"
	     "Made of the tables in `lib/profile/labels.c` and `profile_type.c` by "
	     "`tools/docs.py build --write`.\n\n"
	     "## Labels of a series\n\n"
	     "Few and indexed. They come from OTLP's resource attributes; any other attribute of a "
	     "resource is a label\nunder its own name with dots turned to underscores.\n");
	print_labels(false);
	puts("\n## Labels of a sample\n\n"
	     "Inside the stored rows: filtered and grouped by like the others, but they cost no "
	     "series. Any other\nattribute of a sample, and labels of pprof, come under their own "
	     "names; a link gives `trace_id` and `span_id`.\n");
	print_labels(true);
	puts("\n## Profile types\n\n"
	     "`name:sample_type:sample_unit:period_type:period_unit`. Any well-formed type is "
	     "stored "
	     "and answered; these have\na meaning here. OTLP's `samples/count` with the period "
	     "`cpu/nanoseconds` becomes CPU nanoseconds.\n");
	print_types();
}

static void print_failpoint_page(void)
{
	puts("# Failpoints\n\n"
	     "Made of the table in `lib/base/failpoint.c` by `tools/docs.py build --write`.\n\n"
	     "They are for tests, and off. `--failpoints=NAME=ACTION[:VISIT]`, several separated "
	     "by commas: at the VISIT-th time\n(the first, if not said) that the process comes "
	     "by, it ends (`kill`: SIGKILL) or stands still (`stop`: SIGSTOP, until a\nSIGCONT), "
	     "once. It logs a line `msg=\"failpoint\" name=NAME` before. "
	     "`tests/chaos/test_failpoints.py` shows that\nnothing is lost or counted twice at any "
	     "of them.\n\n"
	     "| failpoint | of the | where |\n|---|---|---|");
	for (size_t i = 0; i < FAILPOINT_COUNT; i++)
		printf("| `%s` | %s | %s |\n", failpoint_rows[i].name, failpoint_rows[i].program,
		       failpoint_rows[i].where);
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
