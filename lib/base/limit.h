// SPDX-License-Identifier: Apache-2.0
/*
 * limit - a row for each bound: its constant in the code, and its line in docs/limits.md.
 *
 * The limits.h of a folder has one list of rows:
 *
 *     #define FOLDER_LIMITS(LIMIT)                                                         \
 *             LIMIT(NAME, 64 << 10, BYTES, "what it bounds", "what happens beyond it")
 *
 *     FOLDER_LIMITS(LIMIT_CONSTANT)
 *
 * Beyond a bound is a counter, a response, or an error to the caller. tools/print_limits.c defines
 * the units, and the phrases that several rows share; a constant does not need them.
 */
#pragma once

#include <stdint.h> /* UINT64_C in a value */

/* An enum of its own, so that a value of 64 bits does not change the type of the other constants.
 */
#define LIMIT_CONSTANT(name, value, unit, bounds, beyond) enum { name = (value) };
