// SPDX-License-Identifier: Apache-2.0
/*
 * unnamed - what part of a profile has no function names, by binary and reason.
 *
 * A sample counts if its leaf has no function: then the profile cannot say what the CPU time was
 * used for. The merge must be grouped by the label `exe`, which names the program of code that is
 * in no file. Pure: any thread. All memory is in the arena; nothing must be freed.
 */
#pragma once

#include "querier/merge/merge.h"
#include "wire/symbolize.h"

struct unnamed_row {
	/* A base name; versions of a shared library are one binary, with the name of one of them.
	 * Of code in no file: the program that runs it. Empty if unknown. */
	str binary;
	enum name_reason reason; /* NAME_KNOWN: it was not symbolized */
	int64_t value;           /* in the unit of the profile */
};

struct unnamed {
	VEC(struct unnamed_row) rows; /* the greatest value first */
	int64_t total;                /* of the profile */
	int64_t value;                /* of the rows */
};

/* The label that the merge must be grouped by. */
#define UNNAMED_GROUP_BY STR("exe")

/* Texts are borrowed from the merge. ERR_LIMIT: more memory than the merge may use, or a sum beyond
 * 64 bits. */
bool unnamed_find(struct merge *merge, struct arena *arena, struct unnamed *ret_unnamed,
		  struct err *err) MUST_CHECK;

/* For each reason a sentence about what gives names; without a period at its end. */
extern const char *const unnamed_remedies[NAME_REASON_COUNT];
