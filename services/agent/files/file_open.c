// SPDX-License-Identifier: Apache-2.0
#include "agent/files/file_open.h"

#include "agent/agent_limits.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

enum { PROC_PATH_MAX = 128, FILE_PATH_MAX = 4096, COPY_PIECE = 1 << 16 };

/* Attributes as the kernel has them, without a request to the server of a file system. */
static bool attributes_of(int fd, struct statx *ret_attributes)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_MNT_ID,
		     ret_attributes) == 0;
}

/* The root directory of a process; pid 0: the agent's own. */
static int open_root(uint32_t pid)
{
	char path[PROC_PATH_MAX] = "/";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/root", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Absolute symbolic links are looked up below the root. */
static int open_below(int root, str path, bool may_wait, bool *ret_must_wait)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	char text[FILE_PATH_MAX];

	if (path.len >= sizeof(text))
		return -1;
	memcpy(text, path.ptr, path.len);
	text[path.len] = 0;
	if (!may_wait) /* the path of a mapped file is in the kernel's cache of names */
		how.resolve |= RESOLVE_CACHED;

	int fd = (int)syscall(SYS_openat2, root, text, &how, sizeof(how));

	/* EINVAL: before Linux 5.12 */
	if (fd < 0 && !may_wait && (errno == EAGAIN || errno == EINVAL))
		*ret_must_wait = true;
	return fd;
}

static int open_mapping(const struct executable_claim *claim)
{
	char path[PROC_PATH_MAX];

	if (!claim->end)
		return -1;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, claim->pid,
		 claim->start, claim->end);
	return open(path, O_PATH | O_CLOEXEC);
}

static int open_way(const struct executable_claim *claim, enum file_way way, bool may_wait,
		    bool *ret_must_wait)
{
	const uint32_t pids[FILE_WAY_COUNT] = {
		[FILE_PROCESS_ROOT] = claim->pid, [FILE_PARENT_ROOT] = claim->parent_pid
	};

	if (way == FILE_MAPPING)
		return open_mapping(claim);
	if (way == FILE_PARENT_ROOT && !claim->parent_pid)
		return -1;

	AUTO_FD root = open_root(pids[way]);

	return root < 0 ? -1 : open_below(root, claim->path, may_wait, ret_must_wait);
}

/* True if this may be the mapped file. In an overlay file system the file has another device than
 * the mapping, so in the process's own root the device is not compared. */
static bool may_be_mapped(const struct executable_claim *claim, enum file_way way,
			  const struct statx *file)
{
	if (!S_ISREG(file->stx_mode))
		return false;
	if (way == FILE_MAPPING || claim->build_id.len)
		return true;
	return file->stx_ino == claim->inode &&
	       (way == FILE_PROCESS_ROOT || (file->stx_dev_major == claim->device_major &&
					     file->stx_dev_minor == claim->device_minor));
}

/* File systems that are neither on the network nor served by a process. Their files cannot hang. */
static bool is_local_type(str type)
{
	static const char *const types[] = { "ext2",  "ext3",     "ext4",  "xfs",     "btrfs",
					     "tmpfs", "squashfs", "erofs", "zfs",     "f2fs",
					     "ramfs", "rootfs",   "vfat",  "bcachefs" };

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_eq(type, str_from(types[i])))
			return true;
	return false;
}

/* True if the process is in the agent's user namespace: then all its mounts are root's. */
static bool has_mounts_of_root(uint32_t pid)
{
	struct stat own, its;
	char path[PROC_PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%u/ns/user", pid);
	return stat("/proc/self/ns/user", &own) == 0 && stat(path, &its) == 0 &&
	       own.st_ino == its.st_ino;
}

struct mount {
	bool is_local, is_nosuid;
};

static bool has_option(str options, str wanted)
{
	while (options.len)
		if (str_eq(str_cut(&options, ','), wanted))
			return true;
	return false;
}

/*
 * A line of mountinfo: 36 35 98:0 /root /mount/point rw,noatime shared:1 - ext4 /dev/sda1 rw
 *
 * An overlay is as local as its layers. A user can make one only in a user namespace of their own.
 * False: the line is of another mount.
 */
static bool read_mount(str line, uint64_t id, uint32_t pid, struct mount *ret_mount)
{
	enum { SKIPPED = 4 };
	uint64_t number;

	if (!str_to_u64(str_cut(&line, ' '), &number) || number != id)
		return false;
	for (int i = 0; i < SKIPPED; i++)
		str_cut(&line, ' ');
	ret_mount->is_nosuid = has_option(str_cut(&line, ' '), STR("nosuid"));
	while (line.len && !str_eq(str_cut(&line, ' '), STR("-"))) {
	}

	str type = str_cut(&line, ' ');

	ret_mount->is_local =
		is_local_type(type) || (str_eq(type, STR("overlay")) && has_mounts_of_root(pid));
	return true;
}

/* A mount that the namespace of the process does not have is not local. */
static struct mount mount_of(uint32_t pid, uint64_t id)
{
	char path[PROC_PATH_MAX], *line = NULL;
	struct mount mount = { false, false };
	bool found = false;
	size_t cap = 0;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%u/mountinfo", pid);

	FILE *mounts = fopen(path, "re");

	while (mounts && !found && (len = getline(&line, &cap, mounts)) > 0)
		found = read_mount((str){ line, (size_t)len }, id, pid, &mount);
	if (mounts)
		fclose(mounts);
	free(line);
	return mount;
}

static bool is_written_by_root_only(const struct statx *file)
{
	return file->stx_uid == 0 && !(file->stx_mode & (S_IWGRP | S_IWOTH));
}

static struct executable_key key_of(const struct statx *file)
{
	return (struct executable_key){
		.device = makedev(file->stx_dev_major, file->stx_dev_minor),
		.inode = file->stx_ino,
		.changed_ns =
			(uint64_t)file->stx_ctime.tv_sec * NS_PER_SECOND + file->stx_ctime.tv_nsec,
		.size = file->stx_size,
	};
}

/* -1: the root is the agent's own, or the process and its parent have ended. */
static int root_of(const struct executable_claim *claim)
{
	AUTO_FD own = open_root(0);
	AUTO_FD its = open_root(claim->pid);
	struct statx a, b;

	if (its < 0 && claim->parent_pid)
		its = open_root(claim->parent_pid);
	if (its < 0 || !attributes_of(own, &a) || !attributes_of(its, &b) ||
	    (a.stx_ino == b.stx_ino && a.stx_dev_major == b.stx_dev_major &&
	     a.stx_dev_minor == b.stx_dev_minor))
		return -1;
	return fd_take(&its);
}

void file_locate(const struct executable_claim *claim, enum file_way from, bool may_wait,
		 struct file_location *ret_location)
{
	*ret_location = (struct file_location){ .way = FILE_WAY_COUNT, .file = -1, .root = -1 };
	for (enum file_way way = from; way < FILE_WAY_COUNT; way++) {
		struct statx file;
		AUTO_FD fd = open_way(claim, way, may_wait, &ret_location->must_wait);

		if (ret_location->must_wait)
			return;
		if (fd < 0 || !attributes_of(fd, &file) || !may_be_mapped(claim, way, &file))
			continue;

		uint32_t pid = way == FILE_PARENT_ROOT ? claim->parent_pid : claim->pid;

		if (way == FILE_OWN_ROOT)
			pid = (uint32_t)getpid();

		struct mount mount = mount_of(pid, file.stx_mnt_id);

		ret_location->is_local = mount.is_local;
		ret_location->is_trusted =
			mount.is_local && !mount.is_nosuid && is_written_by_root_only(&file);
		ret_location->way = way;
		ret_location->key = key_of(&file);
		ret_location->file = fd_take(&fd);
		ret_location->root = root_of(claim);
		return;
	}
}

static int copy_of(int from, struct err *err)
{
	AUTO_FD to = memfd_create("file", MFD_CLOEXEC);
	char piece[COPY_PIECE];
	uint64_t done = 0;
	ssize_t n;

	if (to < 0) {
		err_errno(err, "create a copy of the file");
		return -1;
	}
	while ((n = read(from, piece, sizeof(piece))) > 0) {
		done += (uint64_t)n;
		if (done > FILE_COPY_BYTES_MAX) {
			err_set(err, ERR_LIMIT, "more than %d bytes, not on a local file system",
				FILE_COPY_BYTES_MAX);
			return -1;
		}
		if (write(to, piece, (size_t)n) != n) {
			err_errno(err, "write a copy of the file");
			return -1;
		}
	}
	if (n < 0) {
		err_errno(err, "read the file");
		return -1;
	}
	return fd_take(&to);
}

int file_open(int file, bool is_local, struct err *err)
{
	char path[PROC_PATH_MAX];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);

	/* A regular file, as file_locate() saw. */
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0) {
		err_errno(err, "open the file");
		return -1;
	}
	return is_local ? fd_take(&fd) : copy_of(fd, err);
}
