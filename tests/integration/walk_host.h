// SPDX-License-Identifier: Apache-2.0
/*
 * walk_host - walks a shipped stack on the host and compares the result with the kernel's walk.
 *
 * Both walks have the same registers, stack, mappings and tables. Only a guess reads memory outside
 * the shipped stack: the code before a return address, which is read from the process as it is now.
 */
#pragma once

#include "bpf/sample.h"
#include "bpf/unwind_maps.h"

struct walk_host {
	/* set by the caller */
	const uint8_t *(*page)(void *self, uint64_t number);
	void *self;
	int memory_fd; /* of /proc/PID/mem */
	/* private */
	const uint8_t *stack;
	uint64_t from, bytes;
	bool ran_out;
};

enum walk_same {
	WALK_SAME,        /* the same frames, end and flags */
	WALK_SAME_SO_FAR, /* the same frames up to the end of the shipped bytes */
	WALK_DIFFERS,
	WALK_SAME_COUNT,
};

struct walk_twin {
	uint64_t frames[USER_FRAMES_MAX];
	uint32_t count, flags;
	enum user_end end;
};

/* Compares the kernel's walk, in the record, with the host's, which is returned in *ret_twin. */
enum walk_same walk_host_compare(struct walk_host *host, const struct sample_record *record,
				 const struct unwind_process *process, struct walk_twin *ret_twin);
