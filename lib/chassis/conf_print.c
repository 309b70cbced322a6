// SPDX-License-Identifier: Apache-2.0
/*
 * A part of conf: --help, and the table that docs/configuration.md is made of.
 */
#include "chassis/conf_parts.h"

#include <stdio.h>
#include <string.h>

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

void conf_print_help(const struct conf_program *program)
{
	printf("%s: %s\n\nUsage: %s [flags]\n\n", program->name, program->summary, program->name);
	for (size_t i = 0; i < program->key_count; i++) {
		const struct conf_key *key = &program->keys[i];
		char name[128];

		printf("  --%s=%s  (%s)\n", key->flag, key->fallback ? key->fallback : "",
		       conf_environment_name(key, name, sizeof(name)));
		print_wrapped(key->help, 6);
	}
	printf("  --healthcheck\n");
	print_wrapped("Ask the service running at --http-address whether it is ready: exit 0 or 1.",
		      6);
	printf("  --print-configuration\n");
	print_wrapped("Print this table as Markdown.", 6);
	printf("  --print-metrics\n");
	print_wrapped("Print what /metrics serves, likewise.", 6);
	printf("  --version\n  --help\n\n");
	print_wrapped("A flag wins over the environment variable named beside it, that over the "
		      "default shown.",
		      0);
}

/* A cell of a table ends at a bar, so one in the text is written as its entity. */
static void print_cell(const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			printf("&#124;");
		else
			putchar(*text);
	}
}

void conf_print_markdown(const struct conf_program *program)
{
	printf("## %s\n\n%s\n\n| flag | environment | default | what it sets "
	       "|\n|---|---|---|---|\n",
	       program->name, program->summary);
	for (size_t i = 0; i < program->key_count; i++) {
		const struct conf_key *key = &program->keys[i];
		char name[128];
		bool shown = key->fallback && key->fallback[0];

		printf("| `--%s` | `%s` | %s", key->flag,
		       conf_environment_name(key, name, sizeof(name)), shown ? "`" : "");
		if (shown)
			print_cell(key->fallback);
		printf("%s | ", shown ? "`" : "");
		print_cell(key->help);
		printf(" |\n");
	}
}
