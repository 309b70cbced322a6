// SPDX-License-Identifier: Apache-2.0
/*
 * schema - the tables, as numbered SQL files that are part of the program.
 *
 * A file that was released is never changed: the next number changes what it made.
 */
#pragma once

#include "client/postgres.h"

struct schema_step {
	int number;
	const char *name, *sql;
};
extern const struct schema_step schema_steps[];
extern const size_t schema_step_count;

/* Apply what is missing, in one transaction; others that do the same wait. */
bool schema_apply(struct postgres *pg, struct err *err) MUST_CHECK;

/* ERR_NOT_FOUND with a sentence while the database lacks a step. */
bool schema_check(struct postgres *pg, struct err *err) MUST_CHECK;
