// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_rules - the different rules of a file, each once.
 */
#pragma once

#include "base/arena.h"
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
