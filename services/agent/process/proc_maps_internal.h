// SPDX-License-Identifier: Apache-2.0
/*
 * proc_maps - parses the executable mappings in the text of /proc/PID/maps. No I/O. Any thread.
 */
#pragma once

#include "base/str.h"

struct proc_map {
	uint64_t start, end, file_offset; /* addresses [start, end) */
	uint32_t device_major, device_minor;
	uint64_t inode;
	str path;     /* of the file, where " (deleted)" is cut off; or a name like "[vdso]"; empty:
			 anonymous */
	bool deleted; /* the line ended with " (deleted)": the file was deleted or replaced */
};

/*
 * Cuts lines off the beginning of *rest up to the next executable mapping, and stores the mapping.
 * Its path borrows from the memory of *rest and keeps the kernel's escapes, such as \012. Malformed
 * lines are skipped. False: no more mappings; *ret_map is unchanged.
 */
bool proc_maps_next(str *rest, struct proc_map *ret_map) MUST_CHECK;
