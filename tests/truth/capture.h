// SPDX-License-Identifier: Apache-2.0
/*
 * capture - reads the file of `perf record --call-graph dwarf`: mappings, forks, execs and samples,
 * ordered by time.
 *
 * A sample has the registers and the top of the stack at one tick. perf must have written the file
 * on this machine; a truncated record ends reading.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "bpf/sample.h"

enum capture_kind { CAPTURE_MAPPING, CAPTURE_FORK, CAPTURE_EXEC, CAPTURE_SAMPLE };

struct capture_event {
	enum capture_kind kind;
	uint32_t pid, tid, parent_pid;
	uint64_t time;
	uint64_t order; /* in the file, for equal times */
	/* a mapping */
	uint64_t start, len, file_offset;
	const char *path;
	/* a sample */
	struct sample_registers registers;
	str stack; /* from the stack pointer on */
};

struct capture {
	VEC(struct capture_event) events;
	size_t without_stack; /* samples without a user stack */
};

/* The capture borrows from `file`, which must stay valid. */
bool capture_read(struct capture *capture, str file, struct arena *arena,
		  struct err *err) MUST_CHECK;
