// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/files_sweep.h"

#include "base/clock.h"
#include "base/liveness.h"
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

#define FILES_SWEEP_METRICS(ROW)                                                                 \
	ROW(evicted_files, METRIC_COUNTER, "decima_debuginfo_evicted_files_total",               \
	    "Files evicted because of --store-max-bytes: first those that no client asked for.") \
	ROW(evicted_bytes, METRIC_COUNTER, "decima_debuginfo_evicted_bytes_total",               \
	    "Total size of the evicted files.")                                                  \
	ROW(leftovers, METRIC_COUNTER, "decima_debuginfo_leftovers_total",                       \
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
	const char *directory, *name;  /* below the root */
	struct timespec asked, stored; /* asked: the time 0 if no client asked for it */
	uint64_t size;
};

struct scan {
	struct arena *arena;
	const char *shard, *directory;
	VEC(struct scanned_file) files;
	time_t lately; /* files asked for since then are in asked_bytes */
	uint64_t bytes, asked_bytes;
};

static void visit_file(void *self, int directory, const char *name)
{
	struct scan *scan = self;
	struct stat stat;

	liveness_advance();
	if (fstatat(directory, name, &stat, AT_SYMLINK_NOFOLLOW) || !S_ISREG(stat.st_mode))
		return;
	*vec_push(scan->arena, &scan->files) =
		(struct scanned_file){ .directory = scan->directory,
				       .name = str_z(scan->arena, str_from(name)),
				       .asked = stat.st_atim,
				       .stored = stat.st_mtim,
				       .size = (uint64_t)stat.st_size };
	scan->bytes += (uint64_t)stat.st_size;
	if (stat.st_atim.tv_sec >= scan->lately)
		scan->asked_bytes += (uint64_t)stat.st_size;
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

static int by_time(struct timespec left, struct timespec right)
{
	if (left.tv_sec != right.tv_sec)
		return left.tv_sec < right.tv_sec ? -1 : 1;
	if (left.tv_nsec != right.tv_nsec)
		return left.tv_nsec < right.tv_nsec ? -1 : 1;
	return 0;
}

static int by_last_asked(const void *a, const void *b)
{
	const struct scanned_file *left = a, *right = b;
	int order = by_time(left->asked, right->asked);

	return order ? order : by_time(left->stored, right->stored);
}

/* Remove files until `keep` bytes are left, but none that was asked for at `spared` or later.
 * Returns their number. */
static size_t evict(struct files *files, struct scan *scan, uint64_t keep, time_t spared)
{
	size_t removed = 0;

	qsort(scan->files.items, scan->files.len, sizeof(*scan->files.items), by_last_asked);
	for (size_t i = 0; i < scan->files.len && scan->bytes > keep; i++) {
		const struct scanned_file *file = &scan->files.items[i];

		if (file->asked.tv_sec >= spared)
			break;

		AUTO_FD directory = openat(files->directory, file->directory,
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (directory < 0 || unlinkat(directory, file->name, 0))
			continue; /* another process removed it first */
		unlinkat(files->directory, file->directory, AT_REMOVEDIR); /* if it is empty */
		scan->bytes -= file->size;
		if (file->asked.tv_sec >= scan->lately)
			scan->asked_bytes -= file->size;
		metric_add(&evicted_bytes, file->size);
		removed++;
	}
	metric_add(&evicted_files, removed);
	return removed;
}

/* Scan the store, make room for `need` bytes if possible, and count what is left. Called with the
 * lock held. */
static bool scan_and_evict(struct files *files, uint64_t need, bool spares_asked)
{
	AUTO_ARENA arena = { 0 };
	time_t lately = (time_t)(clock_unix_ns() / NS_PER_SECOND) - ASKED_LATELY_SECONDS;
	struct scan scan = { .arena = &arena, .lately = lately };
	uint64_t keep = files->max_bytes / 100 * KEEP_PERCENT;
	size_t removed = 0;
	bool has_room;

	files_path_each_entry(files->directory, "files", visit_shard, &scan);
	has_room = (spares_asked ? scan.asked_bytes : 0) + need <= files->max_bytes;
	if (has_room && scan.bytes + need > files->max_bytes)
		removed = evict(files, &scan, keep > need ? keep - need : 0,
				spares_asked ? lately : INT64_MAX);
	files->bytes = scan.bytes;
	files->asked_bytes = scan.asked_bytes;
	files->count = scan.files.len - removed;
	files_account(files, 0, 0);
	if (removed)
		log_info("files evicted", "files=%zu bytes_left=%" PRIu64, removed, scan.bytes);
	return has_room && scan.bytes + need <= files->max_bytes;
}

void files_sweep(struct files *files)
{
	pthread_mutex_lock(&files->lock);
	(void)scan_and_evict(files, 0, false);
	pthread_mutex_unlock(&files->lock);
}

bool files_make_room(struct files *files, uint64_t bytes, bool is_asked_for, struct err *err)
{
	bool has_room;

	pthread_mutex_lock(&files->lock);

	uint64_t need = files->reserved + bytes;

	has_room = files->bytes + need <= files->max_bytes ||
		   scan_and_evict(files, need, !is_asked_for);
	if (has_room)
		files->reserved = need;
	pthread_mutex_unlock(&files->lock);
	return has_room ||
	       err_set(err, ERR_LIMIT,
		       "the store is full of files that clients asked for; try again later");
}

/* A scan that missed the new file has ended by then, or the file is counted by both until the next
 * scan. */
void files_release_room(struct files *files, uint64_t reserved, uint64_t bytes, uint64_t count)
{
	pthread_mutex_lock(&files->lock);
	files_account(files, bytes, count);
	files->reserved -= reserved;
	pthread_mutex_unlock(&files->lock);
}

bool files_may_have_room(const struct files *files, uint64_t bytes)
{
	return bytes <= files->max_bytes && files->asked_bytes <= files->max_bytes - bytes;
}
