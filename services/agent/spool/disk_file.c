// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/disk_file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

bool disk_file_read(int directory_fd, const char *name, size_t max, struct arena *arena,
		    str *ret_bytes, struct err *err)
{
	AUTO_FD fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat))
		return err_errno(err, "open %s", name);
	if ((uint64_t)stat.st_size > max)
		return err_set(err, ERR_LIMIT, "%s has %jd bytes, limit %zu", name,
			       (intmax_t)stat.st_size, max);

	size_t len = (size_t)stat.st_size, have = 0;
	char *bytes = arena_array(arena, char, len + 1);

	while (have < len) {
		ssize_t n = read(fd, bytes + have, len - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "read %s", name);
		if (n == 0)
			break; /* the file became shorter: the caller's checksum detects it */
		have += (size_t)n;
	}
	*ret_bytes = (str){ bytes, have };
	return true;
}

static bool write_all(int fd, str bytes)
{
	while (bytes.len) {
		ssize_t n = write(fd, bytes.ptr, bytes.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes = str_skip(bytes, (size_t)n);
	}
	return true;
}

bool disk_file_write(int directory_fd, const char *name, str bytes, struct err *err)
{
	char temp[NAME_MAX + 1];

	if ((size_t)snprintf(temp, sizeof(temp), "%s.tmp", name) >= sizeof(temp))
		return err_set(err, ERR_INVALID, "file name %s is too long", name);

	AUTO_FD fd = openat(directory_fd, temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	if (fd < 0)
		return err_errno(err, "create %s", temp);
	if (!write_all(fd, bytes) || fsync(fd) ||
	    renameat(directory_fd, temp, directory_fd, name)) {
		err_errno(err, "write %s", name);
		unlinkat(directory_fd, temp, 0);
		return false;
	}
	if (fsync(directory_fd))
		return err_errno(err, "sync the directory of %s", name);
	return true;
}
