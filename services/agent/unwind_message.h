// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_message - what the agent and its builder tell each other, a datagram each.
 *
 * With a job come two descriptors: the ELF file, and an empty one that its table is written to.
 */
#pragma once

#include "executable.h"
#include "unwind_outcome.h"

struct unwind_job_message {
	char build_id[BUILD_ID_TEXT_MAX]; /* that the file must have */
};

struct unwind_answer_message {
	uint32_t outcome; /* enum unwind_outcome */
	uint64_t rows, cpu_ns;
	char sentence[256]; /* why there is none */
};

#define UNWIND_BUILDER_NAME "decima-agent-builder"
