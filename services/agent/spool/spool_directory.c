// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/disk_file_internal.h"
#include "agent/spool/spool_directory_internal.h"
#include "base/clock.h"
#include "base/directory.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/vec.h"
#include "wire/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

/* What became of meta. */
enum meta_state {
	META_CONTINUES,
	META_IS_UNUSABLE,
	META_OF_OTHER_PLACE,
};

enum { META_MAX = 64 << 10, ID_MAX = 256, BOOT_ID_MAX = 64 };

struct spool_name spool_name_format(uint64_t epoch, uint64_t seq, const char *suffix)
{
	struct spool_name name;

	snprintf(name.text, sizeof(name.text), "%020" PRIu64 "-%020" PRIu64 "%s", epoch, seq,
		 suffix);
	return name;
}

void spool_entry_add(struct spool *spool, const struct spool_entry *entry)
{
	if (spool->entry_count == spool->entry_cap) {
		size_t cap = spool->entry_cap ? spool->entry_cap * 2 : 64;

		spool->entries = heap_resize(spool->entries, cap, sizeof(*spool->entries));
		spool->entry_cap = cap;
	}
	spool->entries[spool->entry_count++] = *entry;
	spool->bytes += entry->bytes;
}

bool spool_meta_store(struct spool *spool, str status, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct spool_lost lost = spool_lost_get(spool);
	struct spool_meta meta = {
		.epoch = spool->epoch,
		.last_seq = spool->last_seq,
		.dropped = spool->dropped,
		.host_id = spool->host_id,
		.status = status,
		.place = spool->place,
	};

	_Static_assert(sizeof(meta.counts) == sizeof(lost.batches) + sizeof(lost.samples),
		       "meta holds every count");
	memcpy(meta.counts, lost.batches, sizeof(lost.batches));
	memcpy(meta.counts + SPOOL_REASON_COUNT, lost.samples, sizeof(lost.samples));
	return disk_file_write(spool->spool_fd, SPOOL_META, spool_meta_write(&meta, &arena), err);
}

static bool lock_acquire(struct spool *spool, const char *directory, struct err *err)
{
	spool->lock_fd = openat(spool->state_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0640);
	if (spool->lock_fd < 0)
		return err_errno(err, "open %s/lock", directory);
	if (flock(spool->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	if (errno != EWOULDBLOCK)
		return err_errno(err, "lock %s/lock", directory);
	return err_set(err, ERR_INVALID,
		       "another agent uses the state directory %s: stop it, or give this one its "
		       "own --state-directory",
		       directory);
}

/* A random id for a machine without a machine id, stored in the state directory. */
static bool own_id(struct spool *spool, str *ret_id, struct err *err)
{
	unsigned char random[16];

	if (disk_file_read(spool->state_fd, "host-id", ID_MAX, &spool->arena, ret_id, err)) {
		*ret_id = str_trim(*ret_id);
		if (ret_id->len)
			return true;
	} else if (err->code != ERR_NOT_FOUND) {
		return false;
	}
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_errno(err, "create a host id");
	*ret_id = str_hex(&spool->arena, (str){ (const char *)random, sizeof(random) });
	return disk_file_write(spool->state_fd, "host-id", *ret_id, err);
}

static bool host_id_find(struct spool *spool, const struct spool_options *options, struct err *err)
{
	const char *path = options->machine_id_path ? options->machine_id_path : "/etc/machine-id";
	str id;

	if (disk_file_read(AT_FDCWD, path, ID_MAX, &spool->arena, &id, err))
		id = str_trim(id);
	else
		id = (str){ 0 };
	/* systemd writes this word while an image is built. */
	if ((id.len == 0 || str_eq(id, STR("uninitialized"))) && !own_id(spool, &id, err))
		return false;
	spool->host_id = str_format(&spool->arena, "%s/" STR_FMT, options->node, STR_ARG(id));
	if (spool->host_id.len > SPOOL_KEY_MAX)
		return err_set(err, ERR_INVALID, "the host id %.40s... is longer than %d bytes",
			       spool->host_id.ptr, SPOOL_KEY_MAX);
	return true;
}

/* Without a boot id the inode alone is the place. */
static bool place_find(struct spool *spool, const struct spool_options *options, struct err *err)
{
	const char *path =
		options->boot_id_path ? options->boot_id_path : "/proc/sys/kernel/random/boot_id";
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	char boot[BOOT_ID_MAX];
	ssize_t len = fd < 0 ? 0 : read(fd, boot, sizeof(boot));
	struct stat stat;

	if (fstat(spool->spool_fd, &stat))
		return err_errno(err, "stat the spool");

	str id = str_trim((str){ boot, len > 0 ? (size_t)len : 0 });

	spool->place = str_format(&spool->arena, STR_FMT "/%ju/%ju", STR_ARG(id),
				  (uintmax_t)stat.st_dev, (uintmax_t)stat.st_ino);
	return true;
}

/* "EPOCH-SEQ.batch" */
static bool name_parse(str name, struct spool_entry *entry)
{
	str rest = name;
	str epoch = str_cut(&rest, '-');
	str seq = str_cut(&rest, '.');

	return str_eq(rest, STR("batch")) && str_to_u64(epoch, &entry->epoch) &&
	       str_to_u64(seq, &entry->seq) && entry->seq > 0;
}

/* Read a file's header. A file that contradicts its name or size is marked as corrupt; a file that
 * the system cannot read waits for spool_next(), and the number of its samples is not known. */
static void entry_fill(struct spool *spool, const char *name, struct spool_entry *entry)
{
	AUTO_FD fd = openat(spool->spool_fd, name, O_RDONLY | O_CLOEXEC);
	char head[SPOOL_HEADER_SIZE];
	struct spool_batch batch;
	struct stat stat = { 0 };
	uint64_t size;
	struct err err;

	if (fd < 0 || fstat(fd, &stat))
		return;
	entry->bytes = (uint64_t)stat.st_size;
	entry->time_unix_ns = (uint64_t)stat.st_mtim.tv_sec * NS_PER_SECOND;

	ssize_t len = read(fd, head, sizeof(head));

	if (len < 0)
		return;
	entry->state = SPOOL_IS_CORRUPT;
	if (!spool_header_read((str){ head, (size_t)len }, &batch, &size, &err))
		return;
	entry->samples = batch.samples;
	entry->time_unix_ns = batch.time_unix_ns;
	if (size == entry->bytes && batch.epoch == entry->epoch && batch.seq == entry->seq)
		entry->state = SPOOL_WAITING;
}

static int entry_compare(const void *a, const void *b)
{
	const struct spool_entry *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static bool in_range(const struct spool_range *range, const struct spool_entry *entry)
{
	return entry->epoch == range->epoch && entry->seq >= range->first &&
	       entry->seq <= range->last;
}

/* Handle one file of the directory: index a batch, or remove what a crash left behind. */
static void file_index(struct spool *spool, const char *name)
{
	struct spool_entry entry = { 0 };
	str text = str_from(name);

	if (str_ends_with(text, STR(".tmp"))) {
		unlinkat(spool->spool_fd, name, 0);
	} else if (str_ends_with(text, STR(".bad"))) {
		spool->bad_files++;
	} else if (name_parse(text, &entry)) {
		if (in_range(&spool->dropped, &entry)) {
			unlinkat(spool->spool_fd, name, 0);
			return;
		}
		entry_fill(spool, name, &entry);
		spool_entry_add(spool, &entry);
	}
}

DEFINE_CLEANUP(DIR *, closedir)

static bool directory_scan(struct spool *spool, struct err *err)
{
	int fd = openat(spool->spool_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(closedirp) DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (!directory) {
		err_errno(err, "list the spool");
		if (fd >= 0)
			close(fd);
		return false;
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread so far */
	for (const struct dirent *file; (file = readdir(directory));)
		file_index(spool, file->d_name);
	if (spool->entry_count)
		qsort(spool->entries, spool->entry_count, sizeof(*spool->entries), entry_compare);
	return true;
}

/* Meta cannot be continued: numbers begin at 1 again, in a new epoch. */
static void epoch_begin(struct spool *spool)
{
	uint64_t newest = spool->entry_count ? spool->entries[spool->entry_count - 1].epoch : 0;
	uint64_t now_ns = clock_unix_ns();

	spool->epoch = now_ns > newest ? now_ns : newest + 1;
	spool->last_seq = 0;
	spool->last_status = (str){ 0 };
	spool->lost = (struct spool_lost){ 0 };
	spool->dropped = (struct spool_range){ 0 };
	log_info("spool begins a new epoch", "epoch=%" PRIu64 " host=" STR_FMT, spool->epoch,
		 STR_ARG(spool->host_id));
}

static void status_store(struct spool *spool, str status)
{
	memcpy(spool->status_room, status.ptr ? status.ptr : "", status.len);
	spool->last_status = (str){ spool->status_room, status.len };
}

static uint64_t lost_in_status(const struct agent_status *status, str reason)
{
	for (size_t i = 0; i < status->lost_count; i++)
		if (str_eq(status->lost[i].reason, reason))
			return status->lost[i].samples;
	return 0;
}

/* The drops that the last status of the former epoch does not report are reported in the new one:
 * they happened after it was written. */
static void unreported_carry(struct spool *spool)
{
	AUTO_ARENA arena = { 0 };
	struct spool_lost lost = { 0 };
	struct agent_status status = { 0 };
	struct err err;

	if (spool->last_status.len && status_read(spool->last_status, &status, &arena, &err)) {
		for (size_t i = 0; i < SPOOL_REASON_COUNT; i++) {
			uint64_t reported =
				lost_in_status(&status, str_from(spool_reason_names[i]));
			uint64_t all = spool->lost.samples[i];

			lost.samples[i] = all > reported ? all - reported : 0;
		}
	}
	epoch_begin(spool);
	spool->lost = lost;
}

static enum meta_state meta_load(struct spool *spool)
{
	AUTO_ARENA arena = { 0 };
	struct spool_meta meta;
	struct err err;
	str file;

	if (!disk_file_read(spool->spool_fd, SPOOL_META, META_MAX, &arena, &file, &err)) {
		if (err.code != ERR_NOT_FOUND)
			log_error("spool meta unusable", "error=\"%s\"", err.msg);
		return META_IS_UNUSABLE;
	}
	if (!spool_meta_read(file, &meta, &err)) {
		log_error("spool meta unusable", "error=\"meta of the spool: %s\"", err.msg);
		return META_IS_UNUSABLE;
	}
	/* These drops are counted, even if the host id was another one then. */
	spool->dropped = meta.dropped;
	if (!str_eq(meta.host_id, spool->host_id)) {
		log_warn("host id changed", "before=" STR_FMT " now=" STR_FMT,
			 STR_ARG(meta.host_id), STR_ARG(spool->host_id));
		return META_IS_UNUSABLE;
	}
	spool->epoch = meta.epoch;
	spool->last_seq = meta.last_seq;
	memcpy(spool->lost.batches, meta.counts, sizeof(spool->lost.batches));
	memcpy(spool->lost.samples, meta.counts + SPOOL_REASON_COUNT, sizeof(spool->lost.samples));
	status_store(spool, meta.status);
	return meta.place.len == 0 || str_eq(meta.place, spool->place) ? META_CONTINUES
								       : META_OF_OTHER_PLACE;
}

/* After a crash between the renames of the batch and of meta: meta does not have the batch yet. */
static void last_batch_adopt(struct spool *spool, const struct spool_entry *last)
{
	struct spool_name name = spool_name_format(last->epoch, last->seq, ".batch");
	AUTO_ARENA arena = { 0 };
	struct spool_batch batch;
	struct err err;
	str file;

	spool->last_seq = last->seq;
	if (disk_file_read(spool->spool_fd, name.text, (size_t)SPOOL_VALUE_MAX * 2, &arena, &file,
			   &err) &&
	    spool_batch_read(file, &batch, &err))
		status_store(spool, batch.status);
}

/*
 * On a full disk meta cannot be written, and the batch's number could be used twice. The batch was
 * never sent, so it is removed as if it had never been put. Meta stays unchanged.
 */
static bool last_batch_drop(struct spool *spool, const struct spool_entry *last, struct err *err)
{
	struct spool_name name = spool_name_format(last->epoch, last->seq, ".batch");

	log_error("batch removed: no disk space to store its number",
		  "name=%s samples=%" PRIu64 " error=\"%s\"", name.text, last->samples, err->msg);
	if (unlinkat(spool->spool_fd, name.text, 0))
		return false;
	spool->bytes -= last->bytes;
	spool->entry_count--;
	return meta_load(spool) == META_CONTINUES;
}

/* If meta is up to date it is not written, so that waiting batches can be sent on a full disk. */
static bool catch_up(struct spool *spool, struct err *err)
{
	const struct spool_entry *last =
		spool->entry_count ? &spool->entries[spool->entry_count - 1] : NULL;

	if (!last || last->epoch != spool->epoch || last->seq <= spool->last_seq)
		return true;
	last_batch_adopt(spool, last);
	return spool_meta_store(spool, spool->last_status, err) ||
	       last_batch_drop(spool, last, err);
}

bool spool_directory_open(struct spool *spool, const struct spool_options *options, struct err *err)
{
	const char *directory = options->state_directory;

	if (!directory_open(directory, &spool->state_fd, err) ||
	    !lock_acquire(spool, directory, err) || !host_id_find(spool, options, err))
		return false;

	const char *path = str_z(&spool->arena, str_format(&spool->arena, "%s/spool", directory));

	if (!directory_open(path, &spool->spool_fd, err))
		return false;

	if (!place_find(spool, options, err))
		return false;

	enum meta_state meta = meta_load(spool);

	if (!directory_scan(spool, err))
		return false;
	if (meta == META_CONTINUES)
		return catch_up(spool, err);
	if (meta == META_OF_OTHER_PLACE) {
		log_info("the machine was restarted, or the spool is a copy",
			 "before_epoch=%" PRIu64, spool->epoch);
		unreported_carry(spool);
		/* The first batch writes meta. On a full disk the waiting batches can be sent. */
		return true;
	}
	epoch_begin(spool);
	return spool_meta_store(spool, spool->last_status, err);
}
