// SPDX-License-Identifier: Apache-2.0
#include "agent/process/proc_maps_internal.h"

/* 7f1c-7f2d r-xp 00026000 fe:01 3932    /usr/lib/libc.so.6 (deleted) */
static bool parse_line(str line, struct proc_map *ret_map)
{
	struct proc_map map = { 0 };
	str start = str_cut(&line, '-');
	str end = str_cut(&line, ' ');
	str permissions = str_cut(&line, ' ');
	str offset = str_cut(&line, ' ');
	str device_major = str_cut(&line, ':');
	str device_minor = str_cut(&line, ' ');
	str inode = str_cut(&line, ' ');
	uint64_t major, minor;

	if (permissions.len < 4 || permissions.ptr[2] != 'x')
		return false;
	if (!str_hex_to_u64(start, &map.start) || !str_hex_to_u64(end, &map.end) ||
	    !str_hex_to_u64(offset, &map.file_offset) || !str_hex_to_u64(device_major, &major) ||
	    !str_hex_to_u64(device_minor, &minor) || !str_to_u64(inode, &map.inode))
		return false;
	if (map.start >= map.end || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	map.device_major = (uint32_t)major;
	map.device_minor = (uint32_t)minor;
	while (str_starts_with(line, STR(" ")))
		line = str_skip(line, 1);
	if (str_ends_with(line, STR(" (deleted)"))) {
		line.len -= sizeof(" (deleted)") - 1;
		map.deleted = true;
	}
	map.path = line;
	*ret_map = map;
	return true;
}

bool proc_maps_next(str *rest, struct proc_map *ret_map)
{
	while (rest->len)
		if (parse_line(str_cut(rest, '\n'), ret_map))
			return true;
	return false;
}
