// SPDX-License-Identifier: Apache-2.0
/*
 * schema - the tables: numbered SQL migrations that are compiled into the program.
 *
 * A released migration is never changed: a new migration with the next number changes the tables.
 * One thread per connection; `pg` must be open and outside a transaction.
 */
#pragma once

#include "client/postgres.h"

struct schema_step {
	int number; /* from 1 on, without gaps */
	const char *name, *sql;
};
/* Ascending by number. */
extern const struct schema_step schema_steps[];
extern const size_t schema_step_count;

/*
 * Applies the missing steps in one transaction, under an advisory lock: several processes may call
 * it at once. ERR_IO: PostgreSQL failed; all steps are rolled back.
 */
bool schema_apply(struct postgres *pg, struct err *err) MUST_CHECK;

/* ERR_NOT_FOUND: the database lacks a step. ERR_IO: PostgreSQL failed. Changes nothing. */
bool schema_check(struct postgres *pg, struct err *err) MUST_CHECK;
