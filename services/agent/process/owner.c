// SPDX-License-Identifier: Apache-2.0
#include "agent/process/owner.h"

#include "agent/process/process.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum { PROC_PATH_MAX = 64, NAMESPACES_MAX = 32, GONE = -1 };

const char *const owner_class_names[OWNER_CLASS_COUNT] = {
	[OWNER_ROOT] = "root",
	[OWNER_USER] = "user",
	[OWNER_CONTAINER] = "container",
};

/* The user outside of all user namespaces that made the namespace of the process; `uid` if it is in
 * none. The kernel limits the depth of namespaces to 32. */
static int64_t user_outside(uint32_t pid, int64_t uid)
{
	struct stat own, its;
	char path[PROC_PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%u/ns/user", pid);

	int fd = stat("/proc/self/ns/user", &own) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	for (int i = 0; i <= NAMESPACES_MAX && fd >= 0; i++) {
		uid_t maker;
		bool is_outer = fstat(fd, &its) != 0 || its.st_ino == own.st_ino ||
				ioctl(fd, NS_GET_OWNER_UID, &maker) != 0;
		int parent = is_outer ? -1 : ioctl(fd, NS_GET_PARENT);

		if (!is_outer)
			uid = maker;
		close(fd);
		fd = parent;
	}
	if (fd >= 0)
		close(fd);
	return uid;
}

/* The directory belongs to the effective user of the process. GONE: there is no process. */
static int64_t user_of(uint32_t pid)
{
	struct stat stat_of;
	char path[PROC_PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (!pid || stat(path, &stat_of) != 0)
		return GONE;
	return stat_of.st_uid ? user_outside(pid, stat_of.st_uid) : 0;
}

static struct share_owner owner_of_domain(str domain)
{
	bool is_user = str_starts_with(domain, STR("user-"));

	return (struct share_owner){ .id = hash_seeded(domain, hash_seed()),
				     .class_of = is_user ? OWNER_USER : OWNER_CONTAINER };
}

static struct share_owner owner_of_user(int64_t uid, str unit)
{
	return (struct share_owner){ .id = hash_seeded_u64((uint64_t)uid,
							   hash_seeded(unit, hash_seed())),
				     .class_of = uid ? OWNER_USER : OWNER_ROOT };
}

static struct share_owner read_owner(const struct process *process)
{
	static const struct cgroup_names none;
	const struct cgroup_names *names = process->cgroup ? &process->cgroup->names : &none;

	if (names->domain.len)
		return owner_of_domain(names->domain);

	int64_t uid = user_of(process->pid);

	if (uid == GONE)
		uid = user_of(process->parent_pid);
	if (uid == GONE && process->owner.id)
		return process->owner;
	return owner_of_user(uid, names->unit);
}

struct share_owner owner_of_process(struct process *process)
{
	if (!process->is_owner_current)
		process->owner = read_owner(process);
	process->is_owner_current = true;
	return process->owner;
}
