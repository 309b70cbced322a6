// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/files_sweep.h"

#include "base/log.h"
#include "base/vec.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/files_path.h"
#include "server/metrics/metrics.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#define FILES_SWEEP_METRICS(ROW)                                                          \
	ROW(evicted_files, METRIC_COUNTER, "decima_debuginfo_evicted_files_total",        \
	    "Files evicted because of --store-max-bytes, the least recently read first.") \
	ROW(evicted_bytes, METRIC_COUNTER, "decima_debuginfo_evicted_bytes_total",        \
	    "Total size of the evicted files.")                                           \
	ROW(leftovers, METRIC_COUNTER, "decima_debuginfo_leftovers_total",                \
	    "Unfinished files removed at startup: their writers were killed.")

METRICS(files_sweep_metrics, FILES_SWEEP_METRICS);

static void remove_leftover(void *self, int directory, const char *name)
{
	AUTO_FD fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	(void)self;
	/* A locked file belongs to another process that shares the store. */
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(directory, name, 0) == 0)
		metric_add(&leftovers, 1);
}

void files_sweep_leftovers(struct files *files)
{
	files_path_each_entry(files->directory, "temp", remove_leftover, NULL);
}

struct scanned_file {
	const char *directory, *name; /* below the root */
	struct timespec read;
	uint64_t size;
};

struct scan {
	struct arena *arena;
	const char *shard, *directory;
	VEC(struct scanned_file) files;
	uint64_t bytes;
};

static void visit_file(void *self, int directory, const char *name)
{
	struct scan *scan = self;
	struct stat stat;

	if (fstatat(directory, name, &stat, AT_SYMLINK_NOFOLLOW) || !S_ISREG(stat.st_mode))
		return;
	*vec_push(scan->arena, &scan->files) =
		(struct scanned_file){ .directory = scan->directory,
				       .name = str_z(scan->arena, str_from(name)),
				       .read = stat.st_atim,
				       .size = (uint64_t)stat.st_size };
	scan->bytes += (uint64_t)stat.st_size;
}

static void visit_id(void *self, int directory, const char *name)
{
	struct scan *scan = self;

	scan->directory = str_z(scan->arena, str_format(scan->arena, "%s/%s", scan->shard, name));
	files_path_each_entry(directory, name, visit_file, scan);
}

static void visit_shard(void *self, int directory, const char *name)
{
	struct scan *scan = self;

	scan->shard = str_z(scan->arena, str_format(scan->arena, "files/%s", name));
	files_path_each_entry(directory, name, visit_id, scan);
}

static int by_last_read(const void *a, const void *b)
{
	const struct scanned_file *left = a, *right = b;

	if (left->read.tv_sec != right->read.tv_sec)
		return left->read.tv_sec < right->read.tv_sec ? -1 : 1;
	if (left->read.tv_nsec != right->read.tv_nsec)
		return left->read.tv_nsec < right->read.tv_nsec ? -1 : 1;
	return 0;
}

/* Returns the number of removed files. */
static size_t evict(struct files *files, struct scan *scan)
{
	uint64_t keep = files->max_bytes / 100 * KEEP_PERCENT;
	size_t removed = 0;

	qsort(scan->files.items, scan->files.len, sizeof(*scan->files.items), by_last_read);
	/* Never evict the most recently read file: it may just have been stored. */
	for (size_t i = 0; i + 1 < scan->files.len && scan->bytes > keep; i++) {
		const struct scanned_file *file = &scan->files.items[i];
		AUTO_FD directory = openat(files->directory, file->directory,
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (directory < 0 || unlinkat(directory, file->name, 0))
			continue; /* another process removed it first */
		unlinkat(files->directory, file->directory, AT_REMOVEDIR); /* if it is empty */
		scan->bytes -= file->size;
		metric_add(&evicted_bytes, file->size);
		removed++;
	}
	metric_add(&evicted_files, removed);
	return removed;
}

void files_sweep(struct files *files)
{
	AUTO_ARENA arena = { 0 };
	struct scan scan = { .arena = &arena };
	size_t removed = 0;

	pthread_mutex_lock(&files->evicting);
	files_path_each_entry(files->directory, "files", visit_shard, &scan);
	if (scan.bytes > files->max_bytes)
		removed = evict(files, &scan);
	files->bytes = scan.bytes;
	files->count = scan.files.len - removed;
	files_account(files, 0, 0);
	pthread_mutex_unlock(&files->evicting);
	if (removed)
		log_info("files evicted", "files=%zu bytes_left=%" PRIu64, removed, scan.bytes);
}
