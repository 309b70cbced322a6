// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/bpffs.h"

#include "agent/agent_limits.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "server/daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

DEFINE_CLEANUP(DIR *, closedir)

static bool is_mounted(const char *directory)
{
	struct statfs stat;

	return statfs(directory, &stat) == 0 && (uint32_t)stat.f_type == BPF_FS_MAGIC;
}

static bool check_empty(const char *directory, struct err *err)
{
	CLEANUP(closedirp) DIR *listing = opendir(directory);

	if (!listing)
		return err_errno(err, "list %s", directory);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
	for (const struct dirent *file; (file = readdir(listing));)
		if (!str_eq(str_from(file->d_name), STR(".")) &&
		    !str_eq(str_from(file->d_name), STR("..")))
			return err_set(err, ERR_INVALID,
				       "%s is no bpffs and not empty: nothing is mounted over it",
				       directory);
	return true;
}

/* Locks the directory: of two agents that start at once, only one may mount. */
static bool lock_directory(int fd, const char *directory, struct err *err)
{
	uint64_t end_ns = clock_monotonic_ns() + BPFFS_LOCK_MS * NS_PER_MS;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return err_errno(err, "lock %s", directory);
		if (clock_monotonic_ns() > end_ns || !daemon_wait(DETACH_STEP_MS))
			return err_set(err, ERR_IO, "%s is locked by another process", directory);
	}
	return true;
}

bool bpffs_mount(const char *directory, struct err *err)
{
	if (mkdir(directory, 0755) && errno != EEXIST)
		return err_errno(err, "make directory %s", directory);

	AUTO_FD fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, "open %s", directory);
	if (is_mounted(directory))
		return true;
	if (!lock_directory(fd, directory, err))
		return false;
	if (is_mounted(directory)) /* by the agent that had the lock */
		return true;
	if (!check_empty(directory, err))
		return false;
	if (mount("bpffs", directory, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return err_errno(err, "mount a bpffs at %s", directory);
	log_info("mounted a bpffs", "directory=%s", directory);
	return true;
}
