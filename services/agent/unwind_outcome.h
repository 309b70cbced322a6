// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_outcome - what becomes of a table that is wanted.
 */
#pragma once

#include "object/unwind_build.h"

/* The first ones are those of enum unwind_build_reason. */
enum unwind_outcome {
	UNWIND_UNREADABLE = UNWIND_BUILD_REASON_COUNT, /* the file is gone */
	UNWIND_CHANGED,                                /* another one is there in its place */
	UNWIND_CRASHED,                                /* its builder died of it, and again */
	UNWIND_TIMED_OUT,
	UNWIND_OUTCOME_COUNT
};

extern const char *const unwind_outcome_names[UNWIND_OUTCOME_COUNT];
