// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_memory - where the pages of unwind tables are: in BPF maps (unwind_maps.c), or a test's
 * own memory. And where programs look up a process.
 */
#pragma once

#include "base/err.h"
#include "unwind_maps.h"

struct unwind_memory {
	/* A segment of UNWIND_SEGMENT_PAGES zeroed pages; programs see it a moment later. */
	bool (*add)(void *self, uint32_t segment, struct err *err);
	void (*drop)(void *self, uint32_t segment);

	/* Its pages, to be read and written until unmap(); NULL: not now. */
	uint8_t *(*map)(void *self, uint32_t segment);
	void (*unmap)(void *self, uint8_t *pages);

	/* False: there is no room for one more. */
	bool (*put_process)(void *self, uint32_t tgid, const struct unwind_process *process);
	void (*drop_process)(void *self, uint32_t tgid);
	void *self;
};
