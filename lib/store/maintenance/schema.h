// SPDX-License-Identifier: Apache-2.0
/*
 * schema - the tables: numbered SQL migrations that are compiled into the program.
 *
 * A released migration is never changed: a new one with the next number changes the tables.
 */
#pragma once

#include "client/postgres.h"

struct schema_step {
	int number;
	const char *name, *sql;
};
extern const struct schema_step schema_steps[];
extern const size_t schema_step_count;

/* Applies the missing steps in one transaction, under an advisory lock. */
bool schema_apply(struct postgres *pg, struct err *err) MUST_CHECK;

/* ERR_NOT_FOUND if the database lacks a step. */
bool schema_check(struct postgres *pg, struct err *err) MUST_CHECK;
