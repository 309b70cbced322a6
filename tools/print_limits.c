// SPDX-License-Identifier: Apache-2.0
/*
 * print-limits - prints every bound of every limits.h as Markdown for docs/limits.md.
 *
 * tools/docs.py fails if a limits.h has a bound that is in no table of limits/, so none is left
 * undocumented. The values come from the compiler.
 */
#include "limits/limit.h"

#include <stdio.h>

static void print_value(const struct limit *limit)
{
	static const struct {
		uint64_t of;
		const char *name;
	} sizes[] = { { UINT64_C(1) << 30, "GiB" }, { 1 << 20, "MiB" }, { 1 << 10, "KiB" } };
	uint64_t value = limit->value;

	switch (limit->unit) {
	case BYTES:
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			if (value >= sizes[i].of && value % sizes[i].of == 0) {
				printf("%ju %s", (uintmax_t)(value / sizes[i].of), sizes[i].name);
				return;
			}
		printf("%ju bytes", (uintmax_t)value);
		return;
	case MS:
		if (value >= 1000 && value % 1000 == 0)
			printf("%ju s", (uintmax_t)(value / 1000));
		else
			printf("%ju ms", (uintmax_t)value);
		return;
	case SECONDS:
		printf("%ju s", (uintmax_t)value);
		return;
	case UNIX_MS:
		printf("%ju ms, Unix time", (uintmax_t)value);
		return;
	case COUNT:
		printf("%ju", (uintmax_t)value);
		return;
	}
}

static void print_table(const struct limit_table *table)
{
	printf("\n## %s\n\n| name | value | what it bounds | beyond it |\n|---|---|---|---|\n",
	       table->header);
	for (size_t i = 0; i < table->count; i++) {
		printf("| `%s` | ", table->rows[i].name);
		print_value(&table->rows[i]);
		printf(" | %s | %s |\n", table->rows[i].bounds, table->rows[i].beyond);
	}
}

int main(void)
{
	static const struct limit_table *const tables[] = { &profile_limits,    &elf_limits,
							    &store_limits,      &server_limits,
							    &agent_limits,      &ingester_limits,
							    &querier_limits,    &debuginfo_limits,
							    &symbolizer_limits, &sandbox_limits };

	puts("# Limits\n\n"
	     "Everything that an external input can choose has a bound. Bounds that are settings "
	     "are "
	     "in [configuration.md](configuration.md):\n"
	     "`--spool-max-bytes` and `--memory-limit`, `--query-memory-limit`, "
	     "`--query-concurrency`, `--upload-max-bytes`, `--store-max-bytes` and "
	     "`--cache-max-bytes`. The bounds below are constants. The last "
	     "column says what happens\nbeyond a bound: a counter ([metrics.md](metrics.md)), a "
	     "response, or an error to the caller.\n"
	     "Generated from the tables in `tools/limits/` by `tools/docs.py build --write`.");
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		print_table(tables[i]);
	return 0;
}
