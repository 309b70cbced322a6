// SPDX-License-Identifier: Apache-2.0
/* The files maps, cgroup and stat of /proc/PID. Untrusted programs control parts of each. */
#include "agent/process/cgroup_internal.h"
#include "agent/process/proc_internal.h"
#include "agent/process/proc_maps_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str text = { (const char *)data, size }, rest = text;
	struct cgroup_names names = cgroup_names_of(text);
	struct proc_stat stat;
	struct proc_map map;

	while (proc_maps_next(&rest, &map))
		if (map.start >= map.end || map.path.len > size)
			__builtin_trap();
	if (names.path.len == 0 || names.container_id.len > size || names.unit.len > size)
		__builtin_trap();
	(void)!proc_stat_parse(text, &stat);
	return 0;
}
