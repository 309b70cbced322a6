// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_kernel - the unwinder's memory (struct unwind_memory) in BPF maps.
 *
 * To insert a segment into the map of maps, or to delete one, the kernel waits until all programs
 * that run at that moment have ended: about 20 ms each time. So a thread of this module inserts and
 * deletes segments; it inserts all waiting segments in one call. The delay is harmless: a program
 * that does not see a segment yet treats its tables as not loaded. The other functions are called
 * by the agent thread.
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

/*
 * Starts the thread. The descriptors stay the caller's, open until unwind_kernel_close(). The
 * struct must not move. ERR_IO: the thread cannot be started; the caller still calls
 * unwind_kernel_close().
 */
bool unwind_kernel_open(struct unwind_kernel *kernel, int segments_fd, int processes_fd,
			struct err *err) MUST_CHECK;

/* From now on segments are closed without deleting them from the map, so without waiting. */
void unwind_kernel_stop(struct unwind_kernel *kernel);

/* Ends the thread and frees the memory. Accepts a zeroed struct. All segments must have been
 * dropped. */
void unwind_kernel_close(struct unwind_kernel *kernel);

/* The functions for unwind_store_init(). Valid until unwind_kernel_close(). */
struct unwind_memory unwind_kernel_memory(struct unwind_kernel *kernel);
