// SPDX-License-Identifier: Apache-2.0
/*
 * Walking the whole store: what it holds, and what has to go. Seldom: at the start, every few
 * minutes because others may share the directory, and when the quota is exceeded.
 */
#include "base/log.h"
#include "base/vec.h"
#include "chassis/metrics.h"
#include "debuginfo_limits.h"
#include "files.h"
#include "files_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

static struct metric held_bytes = { .name = "decima_debuginfo_store_bytes",
				    .kind = METRIC_GAUGE,
				    .help = "Bytes of the files in the store." };
static struct metric held_files = { .name = "decima_debuginfo_store_files",
				    .kind = METRIC_GAUGE,
				    .help = "Files in the store." };
static struct metric evicted_files = { .name = "decima_debuginfo_evicted_files_total",
				       .kind = METRIC_COUNTER,
				       .help = "Files removed, the least recently read first, "
					       "because of --store-max-bytes." };
static struct metric evicted_bytes = { .name = "decima_debuginfo_evicted_bytes_total",
				       .kind = METRIC_COUNTER,
				       .help = "Bytes of these." };
static struct metric leftovers = { .name = "decima_debuginfo_leftovers_total",
				   .kind = METRIC_COUNTER,
				   .help = "Unfinished files found at the start and removed: a "
					   "writer was killed." };
struct metric *const files_metrics[FILES_METRICS] = { &held_bytes, &held_files, &evicted_files,
						      &evicted_bytes, &leftovers };

void files_account(struct files *files, uint64_t bytes, uint64_t count)
{
	files->bytes += bytes;
	files->count += count;
	metric_set(&held_bytes, (int64_t)files->bytes);
	metric_set(&held_files, (int64_t)files->count);
}

struct files_path files_path_of(const struct build_id *id)
{
	const char *hex = id->is_hash ? id->text + strlen("htlhash:") : id->text;
	struct files_path path;

	snprintf(path.shard, sizeof(path.shard), "files/%.2s", hex);
	snprintf(path.directory, sizeof(path.directory), "files/%.2s/%s%s", hex,
		 id->is_hash ? "htlhash-" : "", hex + 2);
	return path;
}

uint64_t files_path_generation(const char *entry, const char *name)
{
	str rest = str_from(entry);
	uint64_t generation;

	if (!str_starts_with(rest, str_from(name)))
		return 0;
	rest = str_skip(rest, strlen(name));
	if (!str_starts_with(rest, STR("-")) || !str_to_u64(str_skip(rest, 1), &generation))
		return 0;
	return generation;
}

void files_each_entry(int above, const char *path, files_visit *visit, void *self)
{
	int fd = openat(above, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream) {
		if (fd >= 0)
			close(fd);
		return;
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own */
	for (const struct dirent *entry; (entry = readdir(stream));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			visit(self, dirfd(stream), entry->d_name);
	closedir(stream);
}

struct removal {
	const char *name;
	uint64_t but, bytes, count;
};

static void remove_other(void *self, int directory, const char *entry)
{
	struct removal *removal = self;
	uint64_t generation = files_path_generation(entry, removal->name);
	struct stat stat;

	if (!generation || generation >= removal->but || fstatat(directory, entry, &stat, 0) ||
	    unlinkat(directory, entry, 0))
		return;
	removal->bytes += (uint64_t)stat.st_size;
	removal->count++;
}

uint64_t files_remove_others(int directory, const char *name, uint64_t but, uint64_t *ret_count)
{
	struct removal removal = { .name = name, .but = but };

	files_each_entry(directory, ".", remove_other, &removal);
	*ret_count = removal.count;
	return removal.bytes;
}

static void remove_leftover(void *self, int directory, const char *name)
{
	AUTO_FD fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	(void)self;
	/* One that is locked belongs to another process that shares the store. */
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(directory, name, 0) == 0)
		metric_add(&leftovers, 1);
}

void files_remove_leftovers(struct files *files)
{
	files_each_entry(files->directory, "temp", remove_leftover, NULL);
}

struct found {
	const char *directory, *name; /* below the root */
	struct timespec read;
	uint64_t size;
};

struct scan {
	struct arena *arena;
	const char *shard, *directory;
	VEC(struct found) found;
	uint64_t bytes;
};

static void visit_file(void *self, int directory, const char *name)
{
	struct scan *scan = self;
	struct stat stat;

	if (fstatat(directory, name, &stat, AT_SYMLINK_NOFOLLOW) || !S_ISREG(stat.st_mode))
		return;
	*vec_push(scan->arena, &scan->found) =
		(struct found){ .directory = scan->directory,
				.name = str_z(scan->arena, str_from(name)),
				.read = stat.st_atim,
				.size = (uint64_t)stat.st_size };
	scan->bytes += (uint64_t)stat.st_size;
}

static void visit_id(void *self, int directory, const char *name)
{
	struct scan *scan = self;

	scan->directory = str_z(scan->arena, str_format(scan->arena, "%s/%s", scan->shard, name));
	files_each_entry(directory, name, visit_file, scan);
}

static void visit_shard(void *self, int directory, const char *name)
{
	struct scan *scan = self;

	scan->shard = str_z(scan->arena, str_format(scan->arena, "files/%s", name));
	files_each_entry(directory, name, visit_id, scan);
}

static int by_last_read(const void *a, const void *b)
{
	const struct found *left = a, *right = b;

	if (left->read.tv_sec != right->read.tv_sec)
		return left->read.tv_sec < right->read.tv_sec ? -1 : 1;
	if (left->read.tv_nsec != right->read.tv_nsec)
		return left->read.tv_nsec < right->read.tv_nsec ? -1 : 1;
	return 0;
}

/* The number of files that were removed. */
static size_t evict(struct files *files, struct scan *scan)
{
	uint64_t keep = files->max_bytes / 100 * KEEP_PERCENT;
	size_t gone = 0;

	qsort(scan->found.items, scan->found.len, sizeof(*scan->found.items), by_last_read);
	/* The last one, which was read or came just now, is not taken for its own sake. */
	for (size_t i = 0; i + 1 < scan->found.len && scan->bytes > keep; i++) {
		const struct found *found = &scan->found.items[i];
		AUTO_FD directory = openat(files->directory, found->directory,
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (directory < 0 || unlinkat(directory, found->name, 0))
			continue; /* another process was faster */
		unlinkat(files->directory, found->directory, AT_REMOVEDIR); /* if it is empty */
		scan->bytes -= found->size;
		metric_add(&evicted_bytes, found->size);
		gone++;
	}
	metric_add(&evicted_files, gone);
	return gone;
}

void files_sweep(struct files *files)
{
	AUTO_ARENA arena = { 0 };
	struct scan scan = { .arena = &arena };
	size_t gone = 0;

	pthread_mutex_lock(&files->evicting);
	files_each_entry(files->directory, "files", visit_shard, &scan);
	if (scan.bytes > files->max_bytes)
		gone = evict(files, &scan);
	files->bytes = scan.bytes;
	files->count = scan.found.len - gone;
	files_account(files, 0, 0);
	pthread_mutex_unlock(&files->evicting);
	if (gone)
		log_info("files evicted", "files=%zu bytes_left=%" PRIu64, gone, scan.bytes);
}
