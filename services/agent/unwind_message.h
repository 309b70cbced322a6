// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_message - what the agent and its builder tell each other, a datagram each.
 *
 * With a job come two descriptors: the ELF file, and an empty one that its table is written to.
 */
#pragma once

#include "executable.h"
#include "object/unwind_build.h"

/* What becomes of a table that is wanted. */
/* The first ones are those of enum unwind_build_reason. */
enum unwind_outcome {
	UNWIND_UNREADABLE = UNWIND_BUILD_REASON_COUNT, /* the file is gone */
	UNWIND_CHANGED,                                /* another one is there in its place */
	UNWIND_CRASHED,                                /* its builder died of it, and again */
	UNWIND_TIMED_OUT,
	UNWIND_OUTCOME_COUNT
};

struct unwind_job_message {
	char build_id[BUILD_ID_TEXT_MAX]; /* that the file must have */
};

struct unwind_response_message {
	uint32_t outcome; /* enum unwind_outcome */
	uint64_t rows, cpu_ns;
	char error[256]; /* why there is none */
};

#define UNWIND_BUILDER_NAME "decima-agent-builder"
