// SPDX-License-Identifier: Apache-2.0
#include "base/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static bool create(char *path, struct err *err)
{
	for (char *c = path + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return err_errno(err, "create directory %s", path);
		*c = '/';
	}
	if (mkdir(path, 0750) && errno != EEXIST)
		return err_errno(err, "create directory %s", path);
	return true;
}

bool directory_open(const char *path, int *ret_fd, struct err *err)
{
	char copy[PATH_MAX];

	if (!*path || (size_t)snprintf(copy, sizeof(copy), "%s", path) >= sizeof(copy))
		return err_set(err, ERR_INVALID, "a directory path must be 1 to %d bytes long",
			       PATH_MAX - 1);
	if (!create(copy, err))
		return false;

	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, "open directory %s", path);
	*ret_fd = fd;
	return true;
}
