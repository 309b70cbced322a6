// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_message - the datagrams between the agent and its builder process
 * ("sandbox/sandbox.h").
 *
 * A job passes two descriptors: the ELF file, and an empty file that the table is written to.
 */
#pragma once

#include "agent/process/executable.h"
#include "unwind/unwind_build.h"

/* The result of a request for a table. The first values are those of enum unwind_build_reason. */
enum unwind_outcome {
	UNWIND_UNREADABLE = UNWIND_BUILD_REASON_COUNT, /* the file cannot be opened */
	UNWIND_CHANGED,                                /* the file has another build id now */
	UNWIND_CRASHED, /* the builder process died with this file, in each try */
	UNWIND_TIMED_OUT,
	UNWIND_OUTCOME_COUNT
};

struct unwind_job_message {
	char build_id[BUILD_ID_TEXT_MAX]; /* expected */
};

struct unwind_response_message {
	uint32_t outcome; /* enum unwind_outcome */
	uint64_t rows, cpu_ns;
	char error[256]; /* why the build failed */
};

#define UNWIND_BUILDER_NAME "decima-agent-builder"
