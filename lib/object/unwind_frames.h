// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_frames - where a file has its .eh_frame and .debug_frame.
 */
#pragma once

#include "object/elf_sections.h"
#include "unwind_cfi.h"

struct unwind_frames {
	int fd;
	const struct elf_file *elf;
	const struct elf_sections *sections;
	const struct unwind_machine *machine;
	bool has_signal; /* one of them tells of a signal's frame */
};

/* Adds what both of them tell. ERR_LIMIT: more than limits.h allows. */
bool unwind_frames_list(struct unwind_frames *frames, struct unwind_stretches *stretches,
			struct err *err) MUST_CHECK;
