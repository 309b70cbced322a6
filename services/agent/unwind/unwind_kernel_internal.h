// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_kernel - the unwinder's memory (struct unwind_memory) in BPF maps.
 *
 * To insert a segment into the map of maps, or to delete one, the kernel waits until all programs
 * that run at that moment have ended: about 20 ms each time. So a thread of this module does it,
 * and inserts all waiting segments in one call. The delay is harmless: a program that does not see
 * a segment yet treats its tables as not loaded.
 */
#pragma once

#include "agent/unwind/unwind_store_internal.h"
#include "base/queue.h"

struct unwind_kernel {
	/* private */
	int segments_fd, processes_fd; /* of the maps; owned by the caller */
	int *fds;                      /* of each segment; 0: not allocated */
	struct queue changes;
	pthread_t thread;
	bool running;
	_Atomic bool stopping;
};

bool unwind_kernel_open(struct unwind_kernel *kernel, int segments_fd, int processes_fd,
			struct err *err) MUST_CHECK;

/* From now on segments are closed without deleting them from the map, so without waiting. */
void unwind_kernel_stop(struct unwind_kernel *kernel);
void unwind_kernel_close(struct unwind_kernel *kernel);

struct unwind_memory unwind_kernel_memory(struct unwind_kernel *kernel);
