// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_kernel - the unwinder's memory (struct unwind_memory) in BPF maps.
 *
 * Putting a segment into the array of maps, or taking one out, makes the kernel wait until no
 * program runs that began before: some 20 ms each time. So a thread of this module does that, and
 * all that wait at a time together. Nobody depends on the moment: a program that does not see a
 * segment yet takes its table for one that is not loaded.
 */
#pragma once

#include "base/queue.h"
#include "unwind_store.h"

struct unwind_kernel {
	/* private */
	int segments_fd, processes_fd; /* of the maps; the caller's */
	int *fds;                      /* of each segment; 0: it is not held */
	struct queue changes;
	pthread_t thread;
	bool running;
	_Atomic bool stopping;
};

bool unwind_kernel_open(struct unwind_kernel *kernel, int segments_fd, int processes_fd,
			struct err *err) MUST_CHECK;

/* What is dropped from now on goes with the array: nobody waits for the kernel any more. */
void unwind_kernel_stop(struct unwind_kernel *kernel);
void unwind_kernel_close(struct unwind_kernel *kernel);

struct unwind_memory unwind_kernel_memory(struct unwind_kernel *kernel);
