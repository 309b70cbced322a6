// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/kernel_check.h"

#include "base/log.h"

#include <fcntl.h>
#include <sys/utsname.h>

enum { TEXT_MAX = 8192 };

static str read_text(struct arena *arena, const char *path)
{
	char text[TEXT_MAX];
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));

	return len < 0 ? (str){ 0 } : str_copy(arena, (str){ text, (size_t)len });
}

bool kernel_check_texts(const struct kernel_texts *texts, struct err *err)
{
	struct kernel_version version;

	if (!kernel_version_of(texts, &version))
		return true;
	switch (kernel_version_judge(version)) {
	case KERNEL_TOO_OLD:
		return err_set(
			err, ERR_INVALID,
			"Linux %u.%u.%u (" STR_FMT ") is older than 5.10, the first with all "
			"that the agent needs; --allow-unsafe-kernel runs it nevertheless",
			version.major, version.minor, version.patch, STR_ARG(texts->release));
	case KERNEL_FREEZES:
		return err_set(err, ERR_INVALID,
			       "Linux %u.%u.%u (" STR_FMT ") may freeze the machine when BPF reads "
			       "the memory of a process, as the agent does; 6.1.36, 6.3.10 and 6.4 "
			       "do not. If this kernel has the fix: --allow-unsafe-kernel",
			       version.major, version.minor, version.patch,
			       STR_ARG(texts->release));
	case KERNEL_FINE:
	case KERNEL_VERDICT_COUNT:
		break;
	}
	return true;
}

bool kernel_check(bool insist, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct utsname name;

	if (uname(&name) != 0)
		return err_errno(err, "read the kernel's version");

	struct kernel_texts texts = { .release = str_from(name.release),
				      .version = str_from(name.version),
				      .signature = read_text(&arena, "/proc/version_signature") };

	if (kernel_check_texts(&texts, err))
		return true;
	if (!insist)
		return false;
	log_warn("running on an unsafe kernel", "reason=\"%s\"", err->msg);
	return true;
}

/* The text after `name` in the line that begins with it. */
static str field_of(str text, str name)
{
	while (text.len) {
		str line = str_cut(&text, '\n');

		if (str_starts_with(line, name))
			return str_trim(str_skip(line, name.len));
	}
	return (str){ 0 };
}

static bool has(uint64_t capabilities, unsigned int number)
{
	return capabilities >> number & 1;
}

static str missing_capabilities(str status)
{
	enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };
	uint64_t capabilities;

	if (!str_hex_to_u64(field_of(status, STR("CapEff:")), &capabilities) ||
	    has(capabilities, SYS_ADMIN))
		return (str){ 0 };
	if (!has(capabilities, BPF) && !has(capabilities, PERFMON))
		return STR("CAP_BPF and CAP_PERFMON");
	if (!has(capabilities, BPF))
		return STR("CAP_BPF");
	return has(capabilities, PERFMON) ? (str){ 0 } : STR("CAP_PERFMON");
}

/* The first user namespace maps all ids to themselves. */
static bool is_in_user_namespace(str uid_map)
{
	str line = str_cut(&uid_map, '\n');
	uint64_t numbers[3] = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		line = str_trim(line);
		if (!str_to_u64(str_cut(&line, ' '), &numbers[i]))
			return false;
	}
	return numbers[0] || numbers[1] || numbers[2] != UINT32_MAX;
}

str kernel_obstacle(const struct kernel_rules *rules, struct arena *arena)
{
	str missing = missing_capabilities(rules->status);
	uint64_t seccomp;

	if (str_find(rules->lockdown, STR("[confidentiality]")) != SIZE_MAX)
		return STR(
			"the kernel is locked down (lockdown=confidentiality) and forbids reading "
			"its memory, which lockdown=integrity allows");
	if (missing.len)
		return str_format(arena,
				  "the agent lacks " STR_FMT
				  " (it runs as root, or with CAP_BPF, CAP_PERFMON and "
				  "CAP_SYS_PTRACE; kernel.perf_event_paranoid is " STR_FMT ")",
				  STR_ARG(missing), STR_ARG(str_trim(rules->paranoid)));
	if (is_in_user_namespace(rules->uid_map))
		return STR("the agent is in a user namespace (a rootless container), whose root "
			   "has no "
			   "rights in the kernel; start it in the host's");
	if (str_to_u64(field_of(rules->status, STR("Seccomp:")), &seccomp) && seccomp)
		return STR("a seccomp filter is active, and Docker's default filter forbids it "
			   "(docker "
			   "run --privileged, or --security-opt seccomp=unconfined)");
	return (str){ 0 };
}

bool kernel_check_explain(struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct kernel_rules rules = {
		.lockdown = read_text(&arena, "/sys/kernel/security/lockdown"),
		.status = read_text(&arena, "/proc/self/status"),
		.paranoid = read_text(&arena, "/proc/sys/kernel/perf_event_paranoid"),
		.uid_map = read_text(&arena, "/proc/self/uid_map"),
	};
	str obstacle = kernel_obstacle(&rules, &arena);

	if (obstacle.len && err->code != ERR_NOT_FOUND)
		err_set(err, err->code, "%s: " STR_FMT, str_z(&arena, str_from(err->msg)),
			STR_ARG(obstacle));
	return false;
}
