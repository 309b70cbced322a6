// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/tables/table_files.h"

#include "base/directory.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

static const char *const endings[2] = { ".table", ".second" };

static void name_of(const struct build_id *id, const struct table_file *file, char *name,
		    size_t cap)
{
	snprintf(name, cap, "%s-%" PRIu64 "%s", id->text, file->generation,
		 endings[file->is_fallback]);
}

static bool name_parse(str name, struct build_id *ret_id, struct table_file *ret_file)
{
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		if (!str_ends_with(name, str_from(endings[i])))
			continue;

		str remainder = { name.ptr, name.len - strlen(endings[i]) };
		str id = str_cut(&remainder, '-');

		ret_file->is_fallback = i == 1;
		return build_id_parse(id, ret_id, &err) &&
		       str_to_u64(remainder, &ret_file->generation);
	}
	return false;
}

bool table_files_open(const char *path, int *ret_root, int *ret_directory, int *ret_lock,
		      struct err *err)
{
	AUTO_FD root = -1;

	if (!directory_open(path, &root, err))
		return false;

	AUTO_FD lock = openat(root, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0640);

	if (lock < 0)
		return err_errno(err, "open %s", path);
	if (flock(lock, LOCK_EX | LOCK_NB))
		return err_set(err, ERR_BUSY, "another process uses %s", path);
	if ((mkdirat(root, "tables", 0750) && errno != EEXIST) ||
	    (mkdirat(root, "work", 0750) && errno != EEXIST))
		return err_errno(err, "create the directories of %s", path);

	int directory = openat(root, "tables", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return err_errno(err, "open %s/tables", path);
	table_files_empty(root, "work");
	*ret_directory = directory;
	*ret_root = fd_take(&root);
	*ret_lock = fd_take(&lock);
	return true;
}

/* A table file, with the time of its last use. */
struct listed_table {
	struct build_id id;
	struct table_file file;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct listed_table *)a)->used;
	const struct timespec *y = &((const struct listed_table *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static DIR *list(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !entries)
		close(fd);
	return entries;
}

static bool is_dots(const char *name)
{
	return str_eq(str_from(name), STR(".")) || str_eq(str_from(name), STR(".."));
}

void table_files_each(int directory,
		      void (*each)(void *self, const struct build_id *id,
				   const struct table_file *file),
		      void *self)
{
	AUTO_ARENA arena = { 0 };
	VEC(struct listed_table) files = { 0 };
	DIR *entries = list(directory, ".");

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own */
	for (const struct dirent *entry; entries && (entry = readdir(entries));) {
		struct listed_table listed = { 0 };
		struct stat stat;

		if (is_dots(entry->d_name))
			continue;
		if (fstatat(directory, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(stat.st_mode) || !stat.st_size ||
		    !name_parse(str_from(entry->d_name), &listed.id, &listed.file)) {
			unlinkat(directory, entry->d_name, 0);
			continue;
		}
		listed.file.size = (uint64_t)stat.st_size;
		listed.used = stat.st_mtim;
		*vec_push(&arena, &files) = listed;
	}
	if (entries)
		closedir(entries);
	if (files.len)
		qsort(files.items, files.len, sizeof(*files.items), by_use);
	for (size_t i = 0; i < files.len; i++)
		each(self, &files.items[i].id, &files.items[i].file);
}

bool table_file_eq(const struct table_file *a, const struct table_file *b)
{
	return a->generation == b->generation && a->is_fallback == b->is_fallback;
}

bool table_file_is_better(const struct table_file *a, const struct table_file *b)
{
	return a->generation > b->generation ||
	       (a->generation == b->generation && !a->is_fallback && b->is_fallback);
}

int table_file_load(int directory, const struct build_id *id, const struct table_file *file,
		    struct err *err)
{
	static const struct timespec now[2] = { { .tv_nsec = UTIME_NOW },
						{ .tv_nsec = UTIME_NOW } };
	char name[NAME_MAX + 1];
	int fd;

	name_of(id, file, name, sizeof(name));
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		err_errno(err, "open table %s", name);
	else
		(void)futimens(fd, now); /* only affects the order of eviction after a restart */
	return fd;
}

void table_file_remove(int directory, const struct build_id *id, const struct table_file *file)
{
	char name[NAME_MAX + 1];

	name_of(id, file, name, sizeof(name));
	unlinkat(directory, name, 0);
}

bool table_file_put(int root, int directory, const char *from, const struct build_id *id,
		    const struct table_file *file, struct err *err)
{
	char name[NAME_MAX + 1];

	name_of(id, file, name, sizeof(name));
	return renameat(root, from, directory, name) == 0 || err_errno(err, "store table %s", name);
}

void table_files_empty(int directory, const char *name)
{
	DIR *entries = list(directory, name);

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own */
	for (const struct dirent *entry; entries && (entry = readdir(entries));) {
		if (is_dots(entry->d_name) || unlinkat(dirfd(entries), entry->d_name, 0) == 0)
			continue;
		table_files_empty(dirfd(entries), entry->d_name);
		unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR);
	}
	if (entries)
		closedir(entries);
}
