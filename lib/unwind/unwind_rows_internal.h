// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_rows - collects the unwind rows of a file, in ascending order of addresses.
 *
 * The caller begins and ends each address range with rows. A gap between two ranges has no rows,
 * except padding of up to UNWIND_GAP_BRIDGED bytes, which belongs to the range before it. Each
 * distinct rule is stored once and has an id. Memory is in the arena. No function fails: with more
 * than UNWIND_RULES_MAX rules, a new rule becomes UNWIND_RULE_UNSUPPORTED. One thread.
 *
 *     unwind_rows_begin(&rows, start);
 *     unwind_rows_add(&rows, start, &rule);
 *     unwind_rows_add(&rows, start + 4, &other);
 *     unwind_rows_end(&rows, end);
 */
#pragma once

#include "base/vec.h"
#include "unwind/unwind_format.h"

#include <stdbool.h>

enum {
	UNWIND_RULE_NONE, /* the id for addresses without rows; every file has the first two ids */
	UNWIND_RULE_UNSUPPORTED,
	UNWIND_RULE_FIRST, /* the first id of the rules of the file */
	UNWIND_RULE_SLOTS = 4 * UNWIND_RULES_MAX,
};

/* The distinct rules of a file. */
struct unwind_rules {
	struct unwind_rule *items; /* by id */
	uint16_t len;
	uint64_t dropped; /* rules that became unsupported: there were UNWIND_RULES_MAX already */
	/* private */
	uint16_t *slots; /* open addressing; 0: free */
};

void unwind_rules_init(struct unwind_rules *rules, struct arena *arena);

/* The id of this rule, added if it is new. */
uint16_t unwind_rules_id(struct unwind_rules *rules, const struct unwind_rule *rule);

struct unwind_row {
	uint32_t address; /* from base */
	uint16_t rule;    /* its id */
};

struct unwind_rows {
	uint64_t base;  /* an address of the file; all rows are in the 4 GB from there on */
	uint32_t end;   /* end of the last range, from base */
	uint32_t flags; /* UNWIND_TABLE_... */
	VEC(struct unwind_row) rows;
	struct unwind_rules rules;
	/* private */
	struct arena *arena;
};

void unwind_rows_init(struct unwind_rows *rows, struct arena *arena, uint64_t base);

/* Begins an address range. start is not below the end of the previous range. */
void unwind_rows_begin(struct unwind_rows *rows, uint32_t start);

/* The rule holds from this address on. If one address gets several rules, the last one wins. */
void unwind_rows_add(struct unwind_rows *rows, uint32_t address, const struct unwind_rule *rule);
void unwind_rows_end(struct unwind_rows *rows, uint32_t end);
