// SPDX-License-Identifier: Apache-2.0
#include "agent/labels/host.h"

#include "agent/agent_limits.h"
#include "base/log.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { FIRST_PID_NAMESPACE = 0xeffffffc, CPU_TEXT_MAX = 4096, HOST_NAME_BYTES_MAX = 256 };
enum { NUMBER_TEXT_MAX = 24, STACK_MAX_DEFAULT = 127 };

bool host_cpus_parse(str text, struct arena *arena, uint32_t **ret_cpus, size_t *ret_count,
		     struct err *err)
{
	uint32_t *cpus = arena_array(arena, uint32_t, CPUS_MAX);
	str rest = str_trim(text);
	size_t count = 0;

	while (rest.len) {
		str range = str_cut(&rest, ',');
		str first_text = str_cut(&range, '-');
		uint64_t first, last;

		if (!str_to_u64(first_text, &first) ||
		    !str_to_u64(range.len ? range : first_text, &last) || last < first ||
		    last >= CPUS_MAX)
			return err_set(err, ERR_INVALID, "list of CPUs \"" STR_FMT "\"",
				       STR_ARG(text));
		for (uint64_t cpu = first; cpu <= last && count < CPUS_MAX; cpu++)
			cpus[count++] = (uint32_t)cpu;
	}
	if (!count)
		return err_set(err, ERR_INVALID, "no CPU is online");
	*ret_cpus = cpus;
	*ret_count = count;
	return true;
}

bool host_cpus(const char *path, struct arena *arena, uint32_t **ret_cpus, size_t *ret_count,
	       struct err *err)
{
	char text[CPU_TEXT_MAX + 1];
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (len < 0)
		return err_errno(err, "read %s", path);
	if (len > CPU_TEXT_MAX)
		return err_set(err, ERR_LIMIT, "%s has more than %d bytes", path, CPU_TEXT_MAX);
	return host_cpus_parse((str){ text, (size_t)len }, arena, ret_cpus, ret_count, err);
}

uint32_t host_stack_max(void)
{
	char text[NUMBER_TEXT_MAX];
	AUTO_FD fd = open("/proc/sys/kernel/perf_event_max_stack", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));
	uint64_t frames;

	if (len <= 0 || !str_to_u64(str_trim((str){ text, (size_t)len }), &frames) ||
	    frames > UINT32_MAX)
		return STACK_MAX_DEFAULT;
	return (uint32_t)frames;
}

str host_name(struct arena *arena)
{
	char name[HOST_NAME_BYTES_MAX] = "";

	if (gethostname(name, sizeof(name) - 1) != 0 || !name[0])
		return STR("localhost");
	return str_copy(arena, str_from(name));
}

bool host_sees_all_pids(void)
{
	struct stat stat_of;

	return stat("/proc/self/ns/pid", &stat_of) != 0 || stat_of.st_ino == FIRST_PID_NAMESPACE;
}

void host_raise_descriptors(void)
{
	struct rlimit limit;
	rlim_t wanted = DESCRIPTORS_WANTED;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted)
		log_warn("few descriptors", "allowed=%ju wanted=%d", (uintmax_t)limit.rlim_cur,
			 DESCRIPTORS_WANTED);
}
