// SPDX-License-Identifier: Apache-2.0
/*
 * limit - a table row for each bound of a limits.h: what it bounds and what happens beyond it.
 *
 * Each limits.h has a table in a file of this folder; print_limits.c prints all tables.
 */
#ifndef TOOLS_LIMITS_LIMIT_H
#define TOOLS_LIMITS_LIMIT_H

#include <stddef.h>
#include <stdint.h>

enum limit_unit { COUNT, BYTES, MS, SECONDS, UNIX_MS };

struct limit {
	const char *name;
	uint64_t value;
	enum limit_unit unit;
	const char *bounds, *beyond; /* beyond: the counter, or the error, beyond the bound */
};

struct limit_table {
	const char *header;
	const struct limit *rows;
	size_t count;
};

#define LIMIT(name, unit, bounds, beyond)         \
	{                                         \
#name, name, unit, bounds, beyond \
	}
#define TABLE(header, rows)                                  \
	{                                                    \
		header, rows, sizeof(rows) / sizeof(*(rows)) \
	}

#define BAD_DATA "400 `bad_data` with a sentence"
#define UPLOADS  "`decima_agent_debuginfo_uploads_total"
#define PACE     "no loss: it only sets a pace"

extern const struct limit_table profile_limits;
extern const struct limit_table elf_limits;
extern const struct limit_table store_limits;
extern const struct limit_table server_limits;
extern const struct limit_table agent_limits;
extern const struct limit_table ingester_limits;
extern const struct limit_table querier_limits;
extern const struct limit_table debuginfo_limits;
extern const struct limit_table symbolizer_limits;
extern const struct limit_table sandbox_limits;

#endif
