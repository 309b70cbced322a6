// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_rows - the rows of a file while they are found, in the order of their addresses.
 *
 * Stretches of code that have rows are begun and ended; between them nothing holds, but for
 * padding, which belongs to what is before it.
 *
 *     unwind_rows_begin(&rows, start);
 *     unwind_rows_add(&rows, start, &rule);
 *     unwind_rows_add(&rows, start + 4, &other);
 *     unwind_rows_end(&rows, end);
 */
#pragma once

#include "base/vec.h"
#include "unwind_format.h"

#include <stdbool.h>

enum {
	UNWIND_RULE_NONE, /* ids that every file has: where no row holds */
	UNWIND_RULE_UNSUPPORTED,
	UNWIND_RULE_FIRST, /* of those that are found */
	UNWIND_RULE_SLOTS = 4 * UNWIND_RULES_MAX,
};

struct unwind_rules {
	struct unwind_rule *items; /* by id */
	uint16_t len;
	uint64_t dropped; /* how often there was no room for another one: it became unsupported */
	/* private */
	uint16_t *slots; /* open addressing; 0: free */
};

void unwind_rules_init(struct unwind_rules *rules, struct arena *arena);

/* The id of this rule. */
uint16_t unwind_rules_id(struct unwind_rules *rules, const struct unwind_rule *rule);

struct unwind_row {
	uint32_t address; /* from base */
	uint16_t rule;    /* its id */
};

struct unwind_rows {
	uint64_t base;  /* an address of the file; all rows are above it, by less than 4 GB */
	uint32_t end;   /* of the last range, from base */
	uint32_t flags; /* UNWIND_TABLE_... */
	VEC(struct unwind_row) rows;
	struct unwind_rules rules;
	/* private */
	struct arena *arena;
};

void unwind_rows_init(struct unwind_rows *rows, struct arena *arena, uint64_t base);

/* A range of code begins here, which is not below the end of the one before. */
void unwind_rows_begin(struct unwind_rows *rows, uint32_t start);

/* From here on that rule holds; the last one wins where several are given for an address. */
void unwind_rows_add(struct unwind_rows *rows, uint32_t address, const struct unwind_rule *rule);
void unwind_rows_end(struct unwind_rows *rows, uint32_t end);
