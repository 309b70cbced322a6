// SPDX-License-Identifier: Apache-2.0
/*
 * capture - what `perf record --call-graph dwarf` wrote: mappings, forks, execs and samples, in the
 * order of time.
 *
 * A sample has the registers and the top of the stack as they were in one tick. The file is one
 * that perf has just written on this machine; a record that is not whole ends the reading.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "sample.h"

enum capture_kind { CAPTURE_MAPPING, CAPTURE_FORK, CAPTURE_EXEC, CAPTURE_SAMPLE };

struct capture_event {
	enum capture_kind kind;
	uint32_t pid, tid, parent_pid;
	uint64_t time;
	uint64_t order; /* in the file, where times are equal */
	/* a mapping */
	uint64_t start, len, file_offset;
	const char *path;
	/* a sample */
	struct sample_registers registers;
	str stack; /* from the stack pointer on */
};

struct capture {
	VEC(struct capture_event) events;
	size_t without_stack; /* samples that have no user side */
};

/* What it holds borrows from `file`, which must stay. */
bool capture_read(struct capture *capture, str file, struct arena *arena,
		  struct err *err) MUST_CHECK;
