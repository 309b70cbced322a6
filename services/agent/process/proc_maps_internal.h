// SPDX-License-Identifier: Apache-2.0
/*
 * proc_maps - parses the executable mappings in /proc/PID/maps. Pure.
 */
#pragma once

#include "base/str.h"

struct proc_map {
	uint64_t start, end, file_offset;
	uint32_t device_major, device_minor;
	uint64_t inode;
	str path; /* without " (deleted)"; "[vdso]"; empty for anonymous memory */
	bool deleted;
};

/* The next executable mapping; its path borrows from the text. Malformed lines are skipped. False:
 * no more. */
bool proc_maps_next(str *rest, struct proc_map *ret_map) MUST_CHECK;
