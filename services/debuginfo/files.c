// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/files.h"

#include "base/clock.h"
#include "base/directory.h"
#include "base/hash.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/files_path.h"
#include "debuginfo/files_sweep.h"
#include "server/metrics/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>

enum { RACES_MAX = 4 };

#define FILES_METRICS(ROW)                                                                         \
	ROW(stored_bytes, METRIC_GAUGE, "decima_debuginfo_store_bytes",                            \
	    "Total size of the files in the store.")                                               \
	ROW(stored_files, METRIC_GAUGE, "decima_debuginfo_store_files",                            \
	    "Number of files in the store.")                                                       \
	ROW(asked_bytes, METRIC_GAUGE, "decima_debuginfo_store_asked_bytes",                       \
	    "Total size of the files that a client asked for in the last 24 hours, which are not " \
	    "evicted for uploads.")

METRICS(files_metrics, FILES_METRICS);

void files_account(struct files *files, uint64_t bytes, uint64_t count)
{
	files->bytes += bytes;
	files->count += count;
	metric_set(&stored_bytes, (int64_t)files->bytes);
	metric_set(&stored_files, (int64_t)files->count);
	metric_set(&asked_bytes, (int64_t)files->asked_bytes);
}

/* The first process that opens the store creates its name. */
static bool read_name(struct files *files, struct err *err)
{
	AUTO_FD fd = openat(files->directory, "name", O_RDWR | O_CREAT | O_CLOEXEC, 0640);
	char text[FILES_NAME_LEN + 1] = "";
	uint64_t number;

	if (fd < 0 || flock(fd, LOCK_EX))
		return err_errno(err, "open the name of the store");
	if (pread(fd, text, FILES_NAME_LEN, 0) != FILES_NAME_LEN ||
	    !str_hex_to_u64(str_from(text), &number)) {
		if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
			return err_errno(err, "create the name of the store");
		snprintf(text, sizeof(text), "%016" PRIx64, number);
		if (pwrite(fd, text, FILES_NAME_LEN, 0) != FILES_NAME_LEN || fsync(fd))
			return err_errno(err, "write the name of the store");
	}
	memcpy(files->name, text, sizeof(text));
	return true;
}

bool files_open(struct files *files, const char *path, uint64_t max_bytes, struct err *err)
{
	*files = (struct files){ .max_bytes = max_bytes };

	AUTO_FD directory = -1;

	if (!directory_open(path, &directory, err))
		return false;
	if ((mkdirat(directory, "files", 0750) && errno != EEXIST) ||
	    (mkdirat(directory, "temp", 0750) && errno != EEXIST) || fsync(directory))
		return err_errno(err, "open the store %s", path);
	files->directory = fd_take(&directory);
	files->is_open = true;
	pthread_mutex_init(&files->lock, NULL);
	if (!read_name(files, err)) {
		files_close(files);
		return false;
	}
	files_sweep_leftovers(files);
	files_sweep(files);
	return true;
}

void files_close(struct files *files)
{
	if (!files->is_open)
		return;
	close(files->directory);
	files->is_open = false;
	pthread_mutex_destroy(&files->lock);
}

bool files_is_writable(const struct files *files, struct err *why)
{
	if (faccessat(files->directory, "temp", W_OK | X_OK, AT_EACCESS) ||
	    faccessat(files->directory, "files", W_OK | X_OK, AT_EACCESS))
		return err_errno(why, "the store cannot be written to");

	AUTO_FD fd = openat(files->directory, "check", O_WRONLY | O_CREAT | O_CLOEXEC, 0640);

	/* In a full store files can be replaced, and make room for others. */
	if ((fd < 0 || pwrite(fd, "1", 1, 0) != 1 || fdatasync(fd)) && errno != ENOSPC &&
	    errno != EDQUOT)
		return err_errno(why, "the store cannot be written to");
	return true;
}

static struct file_key key_of(const struct build_id *id, const char *name)
{
	struct file_key key = { .id = *id };

	snprintf(key.name, sizeof(key.name), "%s", name);
	return key;
}

struct file_key file_key_debuginfo(const struct build_id *id)
{
	return key_of(id, "debuginfo");
}

struct file_key file_key_executable(const struct build_id *id)
{
	return key_of(id, "executable");
}

struct file_key file_key_source(const struct build_id *id, str path)
{
	hash128 hash = hash_128(path);
	struct file_key key = { .id = *id };

	snprintf(key.name, sizeof(key.name), "source.%016" PRIx64 "%016" PRIx64, hash.high,
		 hash.low);
	return key;
}

struct newest {
	const char *name;
	struct files_entry entry; /* generation 0: not stored */
};

static void visit_entry(void *self, int directory, const char *entry)
{
	struct newest *newest = self;
	struct files_entry parsed = files_path_parse_entry(entry, newest->name);

	(void)directory;
	if (parsed.generation > newest->entry.generation)
		newest->entry = parsed;
}

static struct files_entry newest_of(int directory, const char *name)
{
	struct newest newest = { .name = name };

	files_path_each_entry(directory, ".", visit_entry, &newest);
	return newest.entry;
}

static int open_directory(const struct files *files, const struct build_id *id)
{
	struct files_path path = files_path_of(id);

	return openat(files->directory, path.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

uint64_t files_generation(const struct files *files, const struct file_key *key)
{
	AUTO_FD directory = open_directory(files, &key->id);

	return directory < 0 ? 0 : newest_of(directory, key->name).generation;
}

static bool open_newest(int directory, const struct file_key *key, struct stored_file *ret_file)
{
	struct files_entry newest = newest_of(directory, key->name);
	char text[FILES_ENTRY_MAX];
	struct stat stat;

	if (!newest.generation)
		return false;
	files_path_entry(key->name, newest, text);

	/* To look into a file is not to ask for it. */
	AUTO_FD fd = openat(directory, text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOATIME);

	if (fd < 0 && errno == EPERM) /* the file is another user's */
		fd = openat(directory, text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &stat) || !S_ISREG(stat.st_mode))
		return false;
	*ret_file = (struct stored_file){ .fd = fd_take(&fd),
					  .size = (uint64_t)stat.st_size,
					  .generation = newest.generation,
					  .is_trusted = newest.is_trusted };
	return true;
}

bool files_find(const struct files *files, const struct file_key *key, struct stored_file *ret_file)
{
	AUTO_FD directory = open_directory(files, &key->id);

	if (directory < 0)
		return false;
	/* A newer generation may replace the file between the listing and the open: retry. */
	for (int race = 0; race < RACES_MAX; race++)
		if (open_newest(directory, key, ret_file))
			return true;
	return false;
}

static const char uploader[] = "user.decima.uploader";

void files_mark_uploader(int fd, const unsigned char *client)
{
	if (client)
		(void)fsetxattr(fd, uploader, client, FILES_CLIENT_LEN, 0);
}

static bool is_uploader(int fd, const unsigned char *client)
{
	unsigned char text[FILES_CLIENT_LEN];

	return client && fgetxattr(fd, uploader, text, sizeof(text)) == (ssize_t)sizeof(text) &&
	       memcmp(text, client, sizeof(text)) == 0;
}

void files_mark_asked(int fd, const unsigned char *client)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } };
	struct stat stat;

	if (is_uploader(fd, client)) {
		times[0] = (struct timespec){ .tv_sec = (time_t)(clock_unix_ns() / NS_PER_SECOND) -
							ASKED_LATELY_SECONDS - 1 };
		if (fstat(fd, &stat) || stat.st_atim.tv_sec >= times[0].tv_sec)
			return;
	}
	(void)futimens(fd, times); /* may fail: a read-only store */
}
