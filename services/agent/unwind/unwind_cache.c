// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/unwind/unwind_cache_internal.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "unwind/unwind_format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum { COPY_PIECE = 1 << 20 };

static void name_of(const char *table, char name[NAME_MAX + 1])
{
	snprintf(name, NAME_MAX + 1, "%s.v%d", table, UNWIND_FILE_VERSION);
}

/* Call `each` for every file. */
static void walk(struct unwind_cache *cache,
		 void (*each)(struct unwind_cache *cache, const char *name, const struct stat *stat,
			      void *self),
		 void *self)
{
	int fd = openat(cache->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat stat;

	if (!directory) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(directory))) /* NOLINT(concurrency-mt-unsafe): ours */
		if (fstatat(cache->directory, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(stat.st_mode))
			each(cache, entry->d_name, &stat, self);
	closedir(directory);
}

/* Count a file, or remove it if it is of another version or a leftover temporary file. */
static void index_file(struct unwind_cache *cache, const char *name, const struct stat *stat,
		       void *self)
{
	char ours[16];

	(void)self;
	snprintf(ours, sizeof(ours), ".v%d", UNWIND_FILE_VERSION);
	if (str_ends_with(str_from(name), str_from(ours)))
		cache->bytes += (uint64_t)stat->st_size;
	else
		unlinkat(cache->directory, name, 0);
}

void unwind_cache_open(struct unwind_cache *cache, const char *state_directory, uint64_t max_bytes)
{
	char path[PATH_MAX];

	*cache = (struct unwind_cache){ .directory = -1, .max_bytes = max_bytes };
	if (!state_directory)
		return;
	snprintf(path, sizeof(path), "%s/unwind", state_directory);
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		cache->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (cache->directory < 0) {
		log_warn("unwind tables not stored on disk", "directory=%s error=\"%s\"", path,
			 strerror(errno)); /* NOLINT(concurrency-mt-unsafe): glibc's is safe */
		return;
	}
	walk(cache, index_file, NULL);
}

void unwind_cache_close(struct unwind_cache *cache)
{
	if (cache->directory >= 0)
		close(cache->directory);
	cache->directory = -1;
}

int unwind_cache_get(struct unwind_cache *cache, const char *table)
{
	char name[NAME_MAX + 1];

	if (cache->directory < 0)
		return -1;
	name_of(table, name);

	int fd = openat(cache->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0)
		(void)!futimens(fd, NULL); /* the time of last use */
	return fd;
}

void unwind_cache_remove(struct unwind_cache *cache, const char *table)
{
	char name[NAME_MAX + 1];
	struct stat stat;

	if (cache->directory < 0)
		return;
	name_of(table, name);
	if (fstatat(cache->directory, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
	    unlinkat(cache->directory, name, 0) == 0)
		cache->bytes -= (uint64_t)stat.st_size < cache->bytes ? (uint64_t)stat.st_size
								      : cache->bytes;
}

struct oldest {
	char name[NAME_MAX + 1];
	struct stat stat;
};

static uint64_t used_ns(const struct stat *stat)
{
	return clock_timespec_ns(stat->st_mtim);
}

/* Sums up the sizes anew, since files may have been removed by others. */
static void find_oldest(struct unwind_cache *cache, const char *name, const struct stat *stat,
			void *self)
{
	struct oldest *oldest = self;

	cache->bytes += (uint64_t)stat->st_size;
	if (oldest->name[0] && used_ns(stat) >= used_ns(&oldest->stat))
		return;
	snprintf(oldest->name, sizeof(oldest->name), "%s", name);
	oldest->stat = *stat;
}

static void make_room(struct unwind_cache *cache, uint64_t bytes)
{
	while (cache->bytes + bytes > cache->max_bytes) {
		struct oldest oldest = { .name = "" };

		cache->bytes = 0;
		walk(cache, find_oldest, &oldest);
		if (!oldest.name[0] || unlinkat(cache->directory, oldest.name, 0) != 0)
			return;
		cache->bytes -= (uint64_t)oldest.stat.st_size;
		cache->removed++;
	}
}

bool unwind_cache_copy(int from, int to, struct err *err)
{
	off_t at = 0;

	for (;;) {
		ssize_t n = sendfile(to, from, &at, COPY_PIECE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "copy a table");
		if (n == 0)
			return true;
	}
}

static bool leaves_room(const struct unwind_cache *cache, uint64_t bytes)
{
	struct statvfs disk;

	return fstatvfs(cache->directory, &disk) == 0 &&
	       disk.f_bavail * disk.f_frsize >= bytes + UNWIND_CACHE_SPARE_BYTES;
}

bool unwind_cache_put(struct unwind_cache *cache, const char *table, int fd, struct err *err)
{
	char name[NAME_MAX + 1];
	struct stat stat;

	if (cache->directory < 0)
		return true;
	if (fstat(fd, &stat) != 0)
		return err_errno(err, "stat a table");
	if ((uint64_t)stat.st_size > cache->max_bytes)
		return true;
	if (!leaves_room(cache, (uint64_t)stat.st_size)) {
		cache->left_out++;
		return true;
	}
	make_room(cache, (uint64_t)stat.st_size);

	AUTO_FD temp = openat(cache->directory, "next.tmp",
			      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (temp < 0)
		return err_errno(err, "create a file for a table");
	name_of(table, name);
	/* Not synced: a file that a crash truncated fails its checksum and is built again. */
	if (!unwind_cache_copy(fd, temp, err)) {
		unlinkat(cache->directory, "next.tmp", 0);
		return false;
	}
	if (renameat(cache->directory, "next.tmp", cache->directory, name) != 0) {
		err_errno(err, "rename the file of a table");
		unlinkat(cache->directory, "next.tmp", 0);
		return false;
	}
	cache->bytes += (uint64_t)stat.st_size;
	return true;
}
