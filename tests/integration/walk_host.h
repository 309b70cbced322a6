// SPDX-License-Identifier: Apache-2.0
/*
 * walk_host - the stack of a tick, walked once more on the host from what came along with it.
 *
 * The kernel walked it at that tick already; both have the same registers, stack, mappings and
 * tables. What is not of the stack that came, a guess alone wants: the code before a return
 * address, read from the process as it is now.
 */
#pragma once

#include "sample.h"
#include "unwind_maps.h"

struct walk_host {
	/* set by who asks */
	const uint8_t *(*page)(void *self, uint64_t number);
	void *self;
	int memory_fd; /* of /proc/PID/mem */
	/* private */
	const uint8_t *stack;
	uint64_t from, bytes;
	bool ran_out;
};

enum walk_same {
	WALK_SAME,        /* frames, end and flags */
	WALK_SAME_SO_FAR, /* frames, as far as the stack goes that came along */
	WALK_DIFFERS,
	WALK_SAME_COUNT,
};

struct walk_twin {
	uint64_t frames[USER_FRAMES_MAX];
	uint32_t count, flags;
	enum user_end end;
};

/* How the kernel's walk, in the record, compares with the host's, which is returned as well. */
enum walk_same walk_host_compare(struct walk_host *host, const struct sample_record *record,
				 const struct unwind_process *process, struct walk_twin *ret_twin);
