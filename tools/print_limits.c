// SPDX-License-Identifier: Apache-2.0
/*
 * print-limits - prints every bound of every limits.h as Markdown for docs/limits.md.
 *
 * The rows are those of which the limits.h make their constants (base/limit.h); tools/docs.py fails
 * if a limits.h is missing here. The values come from the compiler.
 */
#include "agent/agent_limits.h"
#include "base/base_limits.h"
#include "client/client_limits.h"
#include "debuginfo/debuginfo_limits.h"
#include "elf/limits.h"
#include "ingester/ingester_limits.h"
#include "profile/limits.h"
#include "querier/querier_limits.h"
#include "sandbox/limits.h"
#include "server/limits.h"
#include "store/limits.h"
#include "symbolizer/symbolizer_limits.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Phrases that several rows share. */
#define PACE     "no loss: it only sets a pace"
#define UPLOADS  "`decima_agent_debuginfo_uploads_total"
#define BAD_DATA "400 `bad_data` with a sentence"
#define REJECTED \
	"the message is rejected, `decima_ingester_rejected_messages_total{reason=\"limit\"}`"
#define SKIPPED "`decima_ingester_skipped_total`"
#define NO_UNWIND_TABLE                                                                      \
	"the file gets no unwind table, its stacks are walked by frame pointers: the build " \
	"fails as `too_large`"
#define NO_SYMBOL_TABLE      "the file gets no symbol table: `ERR_LIMIT` with a sentence"
#define ROW_UNREADABLE       "the query fails with an error, `decima_querier_unreadable_rows_total`"
#define ANOTHER_ROW          "another row, `decima_ingester_rows_total`"
#define INDEX_INSTEAD        "the index is used instead"
#define RETRIES              "`decima_agent_debuginfo_retries_total"
#define BUILD_ERRORS         "`decima_agent_unwind_table_build_errors_total"
#define FILES_READ           "`decima_agent_files_read_total"
#define SERIES_OTHER         "`decima_agent_samples_of_other_series_total`"
#define READS_POSTPONED      "`decima_agent_process_reads_postponed_total`"
#define OVER_LIMIT(what)     "`decima_agent_over_limit_total{what=\"" what "\"}`"
#define UNAVAILABLE(outcome) "503 with a sentence, `decima_debuginfo_" outcome "`"
#define NO_NAME(reason)      "no names, `decima_symbolizer_addresses_total{outcome=\"" reason "\"}`"
#define BUILD(outcome)       "`decima_symbolizer_builds_total{outcome=\"" outcome "\"}`"
#define ENDS(reason)         "the process is killed, `decima_sandbox_ends_total{reason=\"" reason "\"}`"

enum limit_unit { COUNT, BYTES, MS, SECONDS, UNIX_MS };

struct limit {
	const char *name;
	uint64_t value;
	enum limit_unit unit;
	const char *bounds, *beyond; /* beyond: the counter, or the error, beyond the bound */
};

#define LIMIT_ROW(name, value, unit, bounds, beyond) { #name, name, unit, bounds, beyond },

static const struct limit base_rows[] = { BASE_LIMITS(LIMIT_ROW) };
static const struct limit profile_rows[] = { PROFILE_LIMITS(LIMIT_ROW) };
static const struct limit elf_rows[] = { ELF_LIMITS(LIMIT_ROW) };
static const struct limit store_rows[] = { STORE_LIMITS(LIMIT_ROW) };
static const struct limit server_rows[] = { SERVER_LIMITS(LIMIT_ROW) };
static const struct limit agent_rows[] = { AGENT_LIMITS(LIMIT_ROW) };
static const struct limit ingester_rows[] = { INGESTER_LIMITS(LIMIT_ROW) };
static const struct limit querier_rows[] = { QUERIER_LIMITS(LIMIT_ROW) };
static const struct limit debuginfo_rows[] = { DEBUGINFO_LIMITS(LIMIT_ROW) };
static const struct limit symbolizer_rows[] = { SYMBOLIZER_LIMITS(LIMIT_ROW) };
static const struct limit client_rows[] = { CLIENT_LIMITS(LIMIT_ROW) };
static const struct limit sandbox_rows[] = { SANDBOX_LIMITS(LIMIT_ROW) };

static const struct limit_table {
	const char *header;
	const struct limit *rows;
	size_t count;
} tables[] = {
	{ "lib/base/base_limits.h", base_rows, sizeof(base_rows) / sizeof(*base_rows) },
	{ "lib/profile/limits.h", profile_rows, sizeof(profile_rows) / sizeof(*profile_rows) },
	{ "lib/elf/limits.h", elf_rows, sizeof(elf_rows) / sizeof(*elf_rows) },
	{ "lib/store/limits.h", store_rows, sizeof(store_rows) / sizeof(*store_rows) },
	{ "lib/server/limits.h", server_rows, sizeof(server_rows) / sizeof(*server_rows) },
	{ "services/agent/agent_limits.h", agent_rows, sizeof(agent_rows) / sizeof(*agent_rows) },
	{ "services/ingester/ingester_limits.h", ingester_rows,
	  sizeof(ingester_rows) / sizeof(*ingester_rows) },
	{ "services/querier/querier_limits.h", querier_rows,
	  sizeof(querier_rows) / sizeof(*querier_rows) },
	{ "services/debuginfo/debuginfo_limits.h", debuginfo_rows,
	  sizeof(debuginfo_rows) / sizeof(*debuginfo_rows) },
	{ "services/symbolizer/symbolizer_limits.h", symbolizer_rows,
	  sizeof(symbolizer_rows) / sizeof(*symbolizer_rows) },
	{ "lib/client/client_limits.h", client_rows, sizeof(client_rows) / sizeof(*client_rows) },
	{ "lib/sandbox/limits.h", sandbox_rows, sizeof(sandbox_rows) / sizeof(*sandbox_rows) },
};

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
	puts("# Limits\n\n"
	     "Everything that an external input can choose has a bound. Bounds that are settings "
	     "are "
	     "in [configuration.md](configuration.md):\n"
	     "`--spool-max-bytes` and `--memory-limit`, `--query-memory-limit`, "
	     "`--query-concurrency`, `--upload-max-bytes`, `--store-max-bytes` and "
	     "`--cache-max-bytes`. The bounds below are constants. The last "
	     "column says what happens\nbeyond a bound: a counter ([metrics.md](metrics.md)), a "
	     "response, or an error to the caller.\n"
	     "Generated from the rows of each `limits.h` by `tools/docs.py build --write`.");
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		print_table(&tables[i]);
	return 0;
}
