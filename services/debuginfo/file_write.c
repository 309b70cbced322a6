// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/file_write.h"

#include "base/clock.h"
#include "base/log.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/files_path.h"
#include "debuginfo/files_sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { RACES_MAX = 4 };

static void temp_path(const struct file_key *key, char *path, size_t cap)
{
	snprintf(path, cap, "temp/%s.%s", key->id.text, key->name);
}

/* True if the path still names the locked file. Its previous owner may have renamed the file into
 * place between our open and our lock. */
static bool is_same_file(const struct files *files, const char *path, int fd)
{
	struct stat own, named;

	return fstat(fd, &own) == 0 && fstatat(files->directory, path, &named, 0) == 0 &&
	       own.st_ino == named.st_ino && own.st_dev == named.st_dev;
}

bool file_write_begin(struct file_write *write, struct files *files, const struct file_key *key,
		      struct err *err)
{
	char path[FILES_PATH_MAX];

	temp_path(key, path, sizeof(path));
	for (int race = 0; race < RACES_MAX; race++) {
		AUTO_FD fd = openat(files->directory, path,
				    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);

		if (fd < 0)
			return err_errno(err, "create a temporary file");
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			if (errno == EWOULDBLOCK)
				break;
			return err_errno(err, "lock a temporary file");
		}
		if (!is_same_file(files, path, fd))
			continue;
		if (ftruncate(fd, 0))
			return err_errno(err, "empty a temporary file");
		*write = (struct file_write){ .files = files, .key = *key, .fd = fd_take(&fd) };
		return true;
	}
	return err_set(err, ERR_BUSY, "another client is writing the same file");
}

bool file_write_add(struct file_write *write_, str piece, struct err *err)
{
	while (piece.len) {
		ssize_t n = write(write_->fd, piece.ptr, piece.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "write to the store");
		write_->len += (uint64_t)n;
		write_->unsynced += (uint64_t)n;
		piece = str_skip(piece, (size_t)n);
	}
	/* Otherwise the sync of a large file at its end would look like a disk that hangs. */
	if (write_->unsynced >= SYNC_BYTES) {
		if (fdatasync(write_->fd))
			return err_errno(err, "sync a file of the store");
		write_->unsynced = 0;
	}
	return true;
}

bool file_write_restart(struct file_write *write, struct err *err)
{
	if (ftruncate(write->fd, 0) || lseek(write->fd, 0, SEEK_SET) < 0)
		return err_errno(err, "empty a temporary file");
	write->len = 0;
	return true;
}

void file_write_abandon(struct file_write *write)
{
	char path[FILES_PATH_MAX];

	if (!write->files)
		return;
	temp_path(&write->key, path, sizeof(path));
	unlinkat(write->files->directory, path, 0); /* before close() releases the lock */
	close(write->fd);
	*write = (struct file_write){ 0 };
}

static bool make_directory(int root, const char *path, const char *above)
{
	if (mkdirat(root, path, 0750))
		return errno == EEXIST;

	AUTO_FD parent = openat(root, above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return parent >= 0 && fsync(parent) == 0;
}

/* Rename the temporary file into the build id's directory, which is returned open in ret_directory.
 * An eviction may remove the directory right after its creation, because it is empty: retry. */
static bool rename_into(const struct file_write *write, uint64_t *ret_generation,
			int *ret_directory, struct err *err)
{
	struct files_path path = files_path_of(&write->key.id);
	int root = write->files->directory;
	char from[FILES_PATH_MAX], to[FILES_ENTRY_MAX];

	temp_path(&write->key, from, sizeof(from));
	for (int race = 0; race < RACES_MAX; race++) {
		if (!make_directory(root, path.shard, "files") ||
		    !make_directory(root, path.directory, path.shard)) {
			if (errno == ENOENT)
				continue;
			return err_errno(err, "make a directory of the store");
		}

		AUTO_FD directory =
			openat(root, path.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		uint64_t current = files_generation(write->files, &write->key);
		uint64_t now = clock_unix_ns() / NS_PER_MS;
		struct files_entry entry = { .generation = current >= now ? current + 1 : now,
					     .is_trusted = write->is_trusted };

		files_path_entry(write->key.name, entry, to);
		if (directory >= 0 && renameat(root, from, directory, to) == 0) {
			*ret_generation = entry.generation;
			*ret_directory = fd_take(&directory);
			return true;
		}
		if (errno != ENOENT)
			break;
	}
	return err_errno(err, "put a file into the store");
}

struct removal {
	const char *name;
	uint64_t newest;       /* the generation to keep */
	uint64_t bytes, count; /* removed so far */
};

static void remove_if_older(void *self, int directory, const char *entry)
{
	struct removal *removal = self;
	uint64_t generation = files_path_parse_entry(entry, removal->name).generation;
	struct stat stat;

	if (!generation || generation >= removal->newest || fstatat(directory, entry, &stat, 0) ||
	    unlinkat(directory, entry, 0))
		return;
	removal->bytes += (uint64_t)stat.st_size;
	removal->count++;
}

/* Remove the older generations of a file; returns the bytes that this freed. */
static uint64_t remove_older(int directory, const char *name, uint64_t newest, uint64_t *ret_count)
{
	struct removal removal = { .name = name, .newest = newest };

	files_path_each_entry(directory, ".", remove_if_older, &removal);
	*ret_count = removal.count;
	return removal.bytes;
}

/* Make room, *ret_room bytes, and set the time of the last request to that of the replaced file. */
static bool prepare(struct file_write *write, uint64_t *ret_room, struct err *err)
{
	struct timespec times[2] = { { 0 }, { .tv_nsec = UTIME_OMIT } };
	struct stored_file replaced = { .fd = -1 };
	struct stat stat;

	(void)files_find(write->files, &write->key, &replaced);

	AUTO_FD fd = replaced.fd;

	if (fd >= 0 && fstat(fd, &stat) == 0)
		times[0] = stat.st_atim;
	if (write->is_asked_for)
		times[0].tv_nsec = UTIME_NOW;
	files_mark_uploader(write->fd, write->uploader);
	if (futimens(write->fd, times) || fsync(write->fd))
		return err_errno(err, "sync a file of the store");
	*ret_room = write->len > replaced.size ? write->len - replaced.size : 0;
	return files_make_room(write->files, *ret_room, write->is_asked_for, err);
}

bool file_write_commit(struct file_write *write, uint64_t *ret_generation, struct err *err)
{
	struct files *files = write->files;
	AUTO_FD directory = -1;
	uint64_t generation, room, removed_bytes = 0, removed_files = 0;

	if (!prepare(write, &room, err)) {
		file_write_abandon(write);
		return false;
	}
	if (!rename_into(write, &generation, &directory, err)) {
		files_release_room(files, room, 0, 0);
		file_write_abandon(write);
		return false;
	}
	/* If this fails, a power failure may lose the file, so the old one stays as well. */
	if (fsync(directory))
		log_warn("directory of the store not synced", "build_id=%s error=\"%m\"",
			 write->key.id.text);
	else
		removed_bytes =
			remove_older(directory, write->key.name, generation, &removed_files);
	files_release_room(files, room, write->len - removed_bytes, 1 - removed_files);
	close(write->fd);
	*write = (struct file_write){ 0 };
	*ret_generation = generation;
	return true;
}
