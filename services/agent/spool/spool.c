// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/spool.h"

#include "agent/spool/disk_file_internal.h"
#include "agent/spool/failpoints.h"
#include "agent/spool/spool_directory_internal.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	PUT_RATE_S = 60,
	READ_PAUSE_MS = 1000,    /* after the first failed read of a batch; doubles */
	READ_FAILURES_MAX = 4,   /* in a row, of several batches; then all reads pause */
	READ_LOG_MS = 60 * 1000, /* between two log lines about them */
};

const char *const spool_reason_names[SPOOL_REASON_COUNT] = { SPOOL_REASONS(NAMED_TEXT) };

static uint64_t file_size(const struct spool_batch *batch)
{
	return SPOOL_HEADER_SIZE + batch->key.len + batch->status.len + batch->value.len +
	       sizeof(uint64_t);
}

/* Remove the entries [first, first + count) from the index. With the lock. */
static void entries_remove(struct spool *spool, size_t first, size_t count)
{
	struct spool_entry *at = spool->entries + first;

	for (size_t i = 0; i < count; i++)
		spool->bytes -= at[i].bytes;
	spool->entry_count -= count;
	memmove(at, at + count, (spool->entry_count - first) * sizeof(*at));
}

/* With the lock. Batches are delivered in order, so the entry is one of the first. */
static struct spool_entry *entry_find(struct spool *spool, uint64_t epoch, uint64_t seq)
{
	for (size_t i = 0; i < spool->entry_count; i++)
		if (spool->entries[i].epoch == epoch && spool->entries[i].seq == seq)
			return &spool->entries[i];
	return NULL;
}

/* A run of adjacent batches that are dropped for the same reason. */
struct spool_drop {
	size_t first, count;
	enum spool_reason reason;
	struct spool_range range;
};

/* The first run that has to be dropped so that `need` more bytes fit. With the lock. */
static bool victims_find(struct spool *spool, uint64_t need, struct spool_drop *ret_run)
{
	for (size_t i = 0; i < spool->entry_count; i++) {
		enum spool_state state = spool->entries[i].state;

		if (state == SPOOL_IS_CORRUPT || state == SPOOL_IS_REJECTED) {
			*ret_run = (struct spool_drop){ .first = i, .count = 1 };
			ret_run->reason = state == SPOOL_IS_CORRUPT ? SPOOL_CORRUPT : SPOOL_REFUSED;
			return true;
		}
	}
	if (spool->bytes + need <= spool->max_bytes)
		return false;

	size_t first = 0, end;
	uint64_t bytes = spool->bytes;

	while (first < spool->entry_count && spool->entries[first].state != SPOOL_WAITING)
		first++;
	for (end = first; end < spool->entry_count && bytes + need > spool->max_bytes &&
			  spool->entries[end].state == SPOOL_WAITING &&
			  spool->entries[end].epoch == spool->entries[first].epoch;
	     end++)
		bytes -= spool->entries[end].bytes;
	*ret_run =
		(struct spool_drop){ .first = first, .count = end - first, .reason = SPOOL_FULL };
	return end > first;
}

/* Count a run and remove it from the index. With the lock. */
static void victims_count(struct spool *spool, struct spool_drop *run)
{
	const struct spool_entry *entries = spool->entries + run->first;

	run->range = (struct spool_range){ .epoch = entries->epoch,
					   .first = entries->seq,
					   .last = entries[run->count - 1].seq };
	for (size_t i = 0; i < run->count; i++) {
		spool->lost.batches[run->reason]++;
		spool->lost.samples[run->reason] += entries[i].samples;
	}
	entries_remove(spool, run->first, run->count);
	spool->dropped = run->range;
}

/* After meta is written. Up to SPOOL_BAD_FILES_MAX bad files are kept for inspection. */
static void victims_unlink(struct spool *spool, const struct spool_drop *run)
{
	for (uint64_t seq = run->range.first; seq <= run->range.last; seq++) {
		struct spool_name name = spool_name_format(run->range.epoch, seq, ".batch");
		struct spool_name bad = spool_name_format(run->range.epoch, seq, ".bad");

		if (run->reason == SPOOL_FULL || spool->bad_files >= SPOOL_BAD_FILES_MAX)
			unlinkat(spool->spool_fd, name.text, 0);
		else if (!renameat(spool->spool_fd, name.text, spool->spool_fd, bad.text))
			spool->bad_files++;
	}
}

/* Drop all bad batches, and the oldest batches until `need` more bytes fit. */
static bool make_room(struct spool *spool, uint64_t need, struct err *err)
{
	for (;;) {
		struct spool_drop run;

		pthread_mutex_lock(&spool->lock);

		bool found = victims_find(spool, need, &run);
		bool fits = spool->bytes + need <= spool->max_bytes;

		if (found)
			victims_count(spool, &run);
		pthread_mutex_unlock(&spool->lock);
		if (!found && !fits)
			return err_set(err, ERR_LIMIT,
				       "a batch of %" PRIu64 " bytes does not fit the spool's "
				       "%" PRIu64,
				       need, spool->max_bytes);
		if (!found)
			return true;
		log_warn("batches dropped", "reason=%s batches=%zu first=%" PRIu64,
			 spool_reason_names[run.reason], run.count, run.range.first);
		/* On a full disk meta cannot be written before a file is removed. Then the next
		 * write of meta reports the drop, unless a crash comes first. */
		if (!spool_meta_store(spool, spool->last_status, err))
			log_error("drop of batches not stored in meta yet", "error=\"%s\"",
				  err->msg);
		victims_unlink(spool, &run);
	}
}

/* The number is durable in meta before the batch can be sent, or it could be used twice. */
static bool batch_store(struct spool *spool, const struct spool_batch *batch, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct spool_name name = spool_name_format(batch->epoch, batch->seq, ".batch");

	if (disk_file_write(spool->spool_fd, name.text, spool_batch_write(batch, &arena), err)) {
		failpoint(&failpoint_after_spool_file);
		spool->last_seq = batch->seq;
		if (spool_meta_store(spool, batch->status, err))
			return true;
		spool->last_seq = batch->seq - 1;
	}
	unlinkat(spool->spool_fd, name.text, 0);
	return false;
}

/* An average over about a minute: older values count less than half. With the lock. */
static void put_rate_count(struct spool *spool, uint64_t bytes)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t since_ns = spool->put_ns ? now_ns - spool->put_ns : 0;

	spool->put_rate = (spool->put_rate * PUT_RATE_S + (double)bytes) /
			  (PUT_RATE_S + (double)since_ns / NS_PER_SECOND);
	spool->put_ns = now_ns;
}

bool spool_put(struct spool *spool, str value, str status, uint64_t samples, struct err *err)
{
	struct spool_batch batch = {
		.epoch = spool->epoch,
		.seq = spool->last_seq + 1,
		.samples = samples,
		.time_unix_ns = clock_unix_ns(),
		.key = spool->host_id,
		.status = status,
		.value = value,
	};

	if (status.len > SPOOL_STATUS_MAX || value.len > SPOOL_VALUE_MAX)
		return err_set(err, ERR_LIMIT, "a batch of %zu bytes is too large for a spool",
			       value.len);
	if (!make_room(spool, file_size(&batch), err) || !batch_store(spool, &batch, err))
		return err_wrap(err, "spool batch %" PRIu64, batch.seq);
	failpoint(&failpoint_after_spool_fsync);
	memmove(spool->status_room, status.ptr ? status.ptr : "", status.len);
	spool->last_status = (str){ spool->status_room, status.len };

	pthread_mutex_lock(&spool->lock);
	spool_entry_add(spool, &(struct spool_entry){ .epoch = batch.epoch,
						      .seq = batch.seq,
						      .bytes = file_size(&batch),
						      .samples = samples,
						      .time_unix_ns = batch.time_unix_ns });
	put_rate_count(spool, file_size(&batch));
	pthread_cond_signal(&spool->filled);
	pthread_mutex_unlock(&spool->lock);
	return true;
}

struct spool_lost spool_lost_get(struct spool *spool)
{
	pthread_mutex_lock(&spool->lock);

	struct spool_lost lost = spool->lost;

	pthread_mutex_unlock(&spool->lock);
	return lost;
}

struct spool_samples spool_samples_get(struct spool *spool)
{
	pthread_mutex_lock(&spool->lock);

	struct spool_samples samples = { .sent = spool->sent };

	for (size_t i = 0; i < spool->entry_count; i++)
		if (spool->entries[i].epoch == spool->epoch)
			samples.held += spool->entries[i].samples;
	pthread_mutex_unlock(&spool->lock);
	return samples;
}

/* Batches of an older epoch come first in the index. */
uint64_t spool_oldest_seq(struct spool *spool)
{
	uint64_t oldest = spool->last_seq + 1;

	pthread_mutex_lock(&spool->lock);
	for (size_t i = 0; i < spool->entry_count; i++) {
		if (spool->entries[i].epoch != spool->epoch)
			continue;
		oldest = spool->entries[i].seq;
		break;
	}
	pthread_mutex_unlock(&spool->lock);
	return oldest;
}

struct spool_level spool_level_get(struct spool *spool)
{
	pthread_mutex_lock(&spool->lock);

	struct spool_level level = { .batches = spool->entry_count,
				     .bytes = spool->bytes,
				     .put_rate = (uint64_t)spool->put_rate };

	if (spool->entry_count)
		level.oldest_unix_ns = spool->entries[0].time_unix_ns;
	for (size_t i = 0; i < spool->entry_count; i++)
		level.unreadable += spool->entries[i].failed_reads > 0;
	pthread_mutex_unlock(&spool->lock);
	return level;
}

static void state_set(struct spool *spool, uint64_t epoch, uint64_t seq, enum spool_state state)
{
	pthread_mutex_lock(&spool->lock);

	struct spool_entry *entry = entry_find(spool, epoch, seq);

	if (entry)
		entry->state = state;
	pthread_mutex_unlock(&spool->lock);
}

/*
 * The oldest batch that may be sent. With the lock. A batch in flight cannot be dropped, so at most
 * half of the spool's size may be in flight: the other half always has an older batch that can be
 * dropped for a new one.
 */
static struct spool_entry *waiting_find(struct spool *spool)
{
	uint64_t in_flight = 0, now_ns = clock_monotonic_ns();

	if (now_ns < spool->read_ns)
		return NULL;
	for (size_t i = 0; i < spool->entry_count; i++) {
		struct spool_entry *entry = &spool->entries[i];

		if (entry->state == SPOOL_IN_FLIGHT)
			in_flight += entry->bytes;
		if (entry->state == SPOOL_WAITING && now_ns >= entry->retry_ns)
			return in_flight && in_flight + entry->bytes > spool->max_bytes / 2 ? NULL
											    : entry;
	}
	return NULL;
}

/* Mark the oldest waiting batch as in flight, so that it is not dropped while it is read. */
static bool waiting_claim(struct spool *spool, struct spool_entry *ret_entry)
{
	pthread_mutex_lock(&spool->lock);

	struct spool_entry *entry = waiting_find(spool);

	if (entry) {
		entry->state = SPOOL_IN_FLIGHT;
		*ret_entry = *entry;
	}
	pthread_mutex_unlock(&spool->lock);
	return entry;
}

/* ERR_IO: a system error, the file may be good. Any other error: the file is bad. */
static bool batch_load(struct spool *spool, const struct spool_entry *entry, struct arena *arena,
		       struct spool_batch *ret_batch, struct err *err)
{
	struct spool_name name = spool_name_format(entry->epoch, entry->seq, ".batch");
	str file;

	if (!disk_file_read(spool->spool_fd, name.text, (size_t)SPOOL_VALUE_MAX * 2, arena, &file,
			    err) ||
	    !spool_batch_read(file, ret_batch, err))
		return err_wrap(err, "read %s from the spool", name.text);
	if (ret_batch->epoch != entry->epoch || ret_batch->seq != entry->seq)
		return err_set(err, ERR_INVALID, "%s holds another batch than its name says",
			       name.text);
	return true;
}

static void read_succeeded(struct spool *spool, const struct spool_entry *claimed)
{
	pthread_mutex_lock(&spool->lock);

	struct spool_entry *entry = entry_find(spool, claimed->epoch, claimed->seq);

	spool->reads++;
	spool->failed_reads = 0;
	if (entry)
		entry->failed_reads = 0;
	pthread_mutex_unlock(&spool->lock);
}

/*
 * The system cannot read a file: of a bad disk, a wrong owner, or without a free descriptor. The
 * batch waits for its next read and does not hold up younger ones. If younger ones cannot be read
 * either, the files are not to blame: all reads pause, and no batch is given up. True: log it.
 */
static bool read_failed(struct spool *spool, const struct spool_entry *claimed)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool is_given_up = false;

	pthread_mutex_lock(&spool->lock);

	struct spool_entry *entry = entry_find(spool, claimed->epoch, claimed->seq);

	if (++spool->failed_reads % READ_FAILURES_MAX == 0)
		spool->read_ns = now_ns + READ_PAUSE_MS * NS_PER_MS;
	if (entry) {
		if (!entry->failed_reads)
			entry->reads_at_failure = spool->reads;
		is_given_up = ++entry->failed_reads >= SPOOL_READS_MAX &&
			      entry->reads_at_failure < spool->reads;
		if (entry->failed_reads > SPOOL_READS_MAX)
			entry->failed_reads = SPOOL_READS_MAX;
		entry->state = is_given_up ? SPOOL_IS_CORRUPT : SPOOL_WAITING;
		entry->retry_ns = now_ns + (READ_PAUSE_MS * NS_PER_MS << (entry->failed_reads - 1));
	}

	bool is_quiet = spool->logged_ns && now_ns - spool->logged_ns < READ_LOG_MS * NS_PER_MS;

	if (!is_quiet)
		spool->logged_ns = now_ns;
	pthread_mutex_unlock(&spool->lock);
	return is_given_up || !is_quiet;
}

bool spool_next(struct spool *spool, struct arena *arena, struct spool_batch *ret_batch)
{
	struct spool_entry entry;
	struct err err;

	while (waiting_claim(spool, &entry)) {
		bool is_logged = true;

		if (batch_load(spool, &entry, arena, ret_batch, &err)) {
			read_succeeded(spool, &entry);
			return true;
		}
		if (err.code == ERR_IO)
			is_logged = read_failed(spool, &entry);
		else
			state_set(spool, entry.epoch, entry.seq, SPOOL_IS_CORRUPT);
		if (is_logged)
			log_error("batch cannot be read", "error=\"%s\"", err.msg);
	}
	return false;
}

/* The unlink is not synced: a batch that reappears after a crash is sent again, and the ingester
 * recognizes its number. */
void spool_delivered(struct spool *spool, uint64_t epoch, uint64_t seq)
{
	struct spool_name name = spool_name_format(epoch, seq, ".batch");

	if (unlinkat(spool->spool_fd, name.text, 0) && errno != ENOENT)
		log_error("batch cannot be removed", "name=%s error=\"%m\"", name.text);
	pthread_mutex_lock(&spool->lock);

	struct spool_entry *entry = entry_find(spool, epoch, seq);

	if (entry) {
		spool->sent += epoch == spool->epoch ? entry->samples : 0;
		entries_remove(spool, (size_t)(entry - spool->entries), 1);
	}
	pthread_mutex_unlock(&spool->lock);
}

void spool_returned(struct spool *spool, uint64_t epoch, uint64_t seq)
{
	state_set(spool, epoch, seq, SPOOL_WAITING);
}

void spool_rejected(struct spool *spool, uint64_t epoch, uint64_t seq)
{
	state_set(spool, epoch, seq, SPOOL_IS_REJECTED);
}

void spool_wait(struct spool *spool, uint64_t timeout_ms)
{
	uint64_t end_ns = clock_monotonic_ns() + timeout_ms * NS_PER_MS;

	pthread_mutex_lock(&spool->lock);
	while (!waiting_find(spool))
		if (!cond_wait(&spool->filled, &spool->lock, end_ns))
			break;
	pthread_mutex_unlock(&spool->lock);
}

bool spool_open(struct spool *spool, const struct spool_options *options, struct err *err)
{
	*spool = (struct spool){
		.max_bytes = options->max_bytes,
		.state_fd = -1,
		.spool_fd = -1,
		.lock_fd = -1,
		.is_open = true,
	};
	pthread_mutex_init(&spool->lock, NULL);
	pthread_cond_init(&spool->filled, NULL);
	if (!spool_directory_open(spool, options, err)) {
		spool_close(spool);
		return err_wrap(err, "open the spool");
	}
	return true;
}

void spool_close(struct spool *spool)
{
	if (!spool->is_open)
		return;
	fd_closep(&spool->spool_fd);
	fd_closep(&spool->lock_fd);
	fd_closep(&spool->state_fd);
	pthread_mutex_destroy(&spool->lock);
	pthread_cond_destroy(&spool->filled);
	free(spool->entries);
	arena_free(&spool->arena);
	*spool = (struct spool){ 0 };
}
