// SPDX-License-Identifier: Apache-2.0
#include "agent/files/file_reader.h"

#include "agent/agent_limits.h"
#include "agent/files/file_message_internal.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/liveness.h"
#include "base/log.h"
#include "server/metrics/metrics.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

static const char *const end_names[EXECUTABLE_END_COUNT] = {
	[EXECUTABLE_READ] = "read",           [EXECUTABLE_LOCATED] = "located",
	[EXECUTABLE_NOT_FOUND] = "not_found", [EXECUTABLE_UNREADABLE] = "unreadable",
	[EXECUTABLE_TIMED_OUT] = "timed_out", [EXECUTABLE_SKIPPED] = "skipped",
	[EXECUTABLE_CRASHED] = "crashed",     [EXECUTABLE_NO_PROGRAM] = "no_program",
};

#define FILE_READER_METRICS(ROW)                                                           \
	ROW(ends, METRIC_COUNTER, "decima_agent_files_read_total",                         \
	    "Mapped files that were to be read, by outcome. located: known by its inode; " \
	    "timed_out: its file system hung; "                                            \
	    "skipped: on a file system that hung before.",                                 \
	    METRIC_LABEL("outcome", end_names, EXECUTABLE_END_COUNT))                      \
	ROW(remote, METRIC_COUNTER, "decima_agent_files_remote_total",                     \
	    "Mapped files that are not on a local file system: a copy is read.")

METRICS(file_reader_metrics, FILE_READER_METRICS);

struct file_item {
	struct executable *executable;
	struct executable_claim claim; /* its texts are heap memory */
	bool only_locate;
	enum file_way way; /* to begin with */
	struct file_location location;
	int fd; /* the open file */
	bool is_done;
	enum executable_end end;
	struct file_read_response *found; /* heap memory, while it is read: thousands may wait */
};

enum step { STEP_LOCATE, STEP_OPEN, STEP_READ, STEP_READ_TRUSTED };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void reset(struct file_item *item)
{
	close_fd(&item->fd);
	close_fd(&item->location.file);
	close_fd(&item->location.root);
	item->location = (struct file_location){ .way = FILE_WAY_COUNT, .file = -1, .root = -1 };
}

static void item_free(struct file_item *item)
{
	reset(item);
	free((void *)(uintptr_t)item->claim.path.ptr);
	free((void *)(uintptr_t)item->claim.build_id.ptr);
	free(item->found);
	free(item);
}

static void finish(struct file_item *item, enum executable_end end)
{
	item->is_done = true;
	item->end = end;
}

static bool is_remote(const struct file_lane *lane)
{
	return lane == &lane->reader->lanes[FILE_LANE_REMOTE];
}

/* A free or known place for the id; otherwise the one that ends first. */
static struct file_muted *place_of(struct file_lane *lane, bool is_process, uint64_t id)
{
	struct file_muted *place = &lane->muted[0];

	for (size_t i = 0; i < FILE_MUTED_MAX; i++) {
		struct file_muted *at = &lane->muted[i];

		if (at->misses && at->is_process == is_process && at->id == id)
			return at;
		if (at->until_ns < place->until_ns)
			place = at;
	}
	*place = (struct file_muted){ .is_process = is_process, .id = id };
	return place;
}

/* If the file was found, its file system hangs; otherwise a directory on the way to it does. */
static void mute(struct file_lane *lane, const struct file_item *item)
{
	bool is_process = item->location.file < 0;
	uint64_t id = is_process ? item->claim.pid : item->location.key.device;
	struct file_muted *at = place_of(lane, is_process, id);
	uint64_t pause_ms = (uint64_t)FILE_MUTE_MS << (at->misses < 6 ? at->misses : 6);

	at->misses++;
	at->until_ns = clock_monotonic_ns() + pause_ms * NS_PER_MS;
	log_warn("file system hangs, its files are skipped",
		 "path=\"" STR_FMT "\" pid=%" PRIu32 " seconds=%" PRIu64, STR_ARG(item->claim.path),
		 item->claim.pid, pause_ms / 1000);
}

static bool is_muted(const struct file_lane *lane, bool is_process, uint64_t id)
{
	uint64_t now_ns = clock_monotonic_ns();

	for (size_t i = 0; i < FILE_MUTED_MAX; i++)
		if (lane->muted[i].misses && lane->muted[i].is_process == is_process &&
		    lane->muted[i].id == id)
			return now_ns < lane->muted[i].until_ns;
	return false;
}

static struct sandbox *process_of(struct file_lane *lane, enum step step)
{
	if (step == STEP_READ_TRUSTED)
		return &lane->trusted_parser;
	return step == STEP_READ ? &lane->parser : &lane->opener;
}

static bool ensure_process(struct file_lane *lane, enum step step)
{
	const char *arguments[] = { lane->reader->sandbox_uid, NULL };
	const struct sandbox_options options = { .program = step >= STEP_READ ? FILE_READER_NAME
									      : FILE_OPENER_NAME,
						 .arguments = step >= STEP_READ ? arguments : NULL,
						 .cancel = &lane->reader->cancel };
	struct sandbox *process = process_of(lane, step);
	struct err err;

	if (process->pid)
		return true;
	if (sandbox_start(process, &options, &err)) {
		lane->is_missing = false;
		return true;
	}
	if (!lane->is_missing && err.code != ERR_CANCELLED)
		log_error("mapped files are not read: frames have no build id",
			  "program=%s error=\"%s\"", options.program, err.msg);
	lane->is_missing = true;
	return false;
}

static bool send_locate(struct file_lane *lane, const struct file_item *item)
{
	static _Thread_local struct file_job_message job;
	const struct executable_claim *claim = &item->claim;

	job = (struct file_job_message){ .way = item->way,
					 .may_wait = is_remote(lane),
					 .pid = claim->pid,
					 .parent_pid = claim->parent_pid,
					 .device_major = claim->device_major,
					 .device_minor = claim->device_minor,
					 .start = claim->start,
					 .end = claim->end,
					 .inode = claim->inode,
					 .build_id_len = (uint32_t)claim->build_id.len,
					 .path_len = (uint32_t)claim->path.len };
	memcpy(job.build_id, claim->build_id.ptr, claim->build_id.len);
	memcpy(job.path, claim->path.ptr, claim->path.len);
	return sandbox_send(&lane->opener, &job, sizeof(job), NULL);
}

static bool send_job(struct file_lane *lane, enum step step, const struct file_item *item)
{
	const struct file_read_message read = { 0 };
	const int fds[SANDBOX_FDS_MAX] = { step >= STEP_READ ? item->fd : item->location.file, -1,
					   -1 };

	if (step == STEP_LOCATE)
		return send_locate(lane, item);
	if (step >= STEP_READ)
		return sandbox_send(process_of(lane, step), &read, sizeof(read), fds);

	static _Thread_local struct file_job_message job;

	job = (struct file_job_message){ .way = item->location.way,
					 .is_local = item->location.is_local };
	return sandbox_send(&lane->opener, &job, sizeof(job), fds);
}

static void take_location(struct file_item *item, const struct file_job_response *response,
			  int *fds)
{
	item->location = (struct file_location){ .way = response->way < FILE_WAY_COUNT
								? (enum file_way)response->way
								: FILE_WAY_COUNT,
						 .must_wait = response->must_wait,
						 .is_local = response->is_local,
						 .is_trusted = response->is_trusted,
						 .key = response->key,
						 .file = fds[0],
						 .root = fds[1] };
}

static enum sandbox_reply receive_opener(struct file_lane *lane, enum step step,
					 struct file_item *item)
{
	uint64_t timeout_ms = is_remote(lane) ? FILE_REMOTE_MS : FILE_LOCAL_MS;
	struct file_job_response response;
	int fds[SANDBOX_FDS_MAX];
	enum sandbox_reply reply = sandbox_wait(&lane->opener, timeout_ms, &lane->reader->cancel,
						&response, sizeof(response), fds);

	if (reply != SANDBOX_RESPONDED)
		return reply;
	if (step == STEP_LOCATE) {
		take_location(item, &response, fds);
		if (item->location.way == FILE_WAY_COUNT && !item->location.must_wait)
			finish(item, EXECUTABLE_NOT_FOUND);
		return reply;
	}
	item->fd = fds[0];
	if (item->fd < 0) {
		response.error[sizeof(response.error) - 1] = 0;
		log_debug("mapped file not opened", "path=\"" STR_FMT "\" error=\"%s\"",
			  STR_ARG(item->claim.path), response.error);
		finish(item, EXECUTABLE_UNREADABLE);
	}
	return reply;
}

/* The response is of a process that may have been taken over. */
static bool is_sound(const struct file_read_response *response)
{
	return response->segment_count <= ELF_SEGMENTS_MAX &&
	       memchr(response->build_id, 0, sizeof(response->build_id));
}

static enum sandbox_reply receive(struct file_lane *lane, enum step step, struct file_item *item)
{
	if (step < STEP_READ)
		return receive_opener(lane, step, item);
	if (!item->found)
		item->found = heap_new(struct file_read_response);

	enum sandbox_reply reply =
		sandbox_wait(process_of(lane, step), FILE_LOCAL_MS, &lane->reader->cancel,
			     item->found, sizeof(*item->found), NULL);

	return reply == SANDBOX_RESPONDED && !is_sound(item->found) ? SANDBOX_INVALID : reply;
}

/* The process did not respond to the job of the item. False: the agent ends. */
static bool take_failure(struct file_lane *lane, enum step step, struct file_item *item,
			 enum sandbox_reply reply)
{
	sandbox_stop(process_of(lane, step), reply);
	if (reply == SANDBOX_CANCELLED)
		return false;
	if (reply == SANDBOX_BUSY && step < STEP_READ)
		mute(lane, item);
	finish(item, reply == SANDBOX_BUSY ? EXECUTABLE_TIMED_OUT : EXECUTABLE_CRASHED);
	return true;
}

/*
 * Sends the jobs of all items and receives the responses in the same order: then both sides run at
 * once, and not in turn. If one job hangs or kills the process, those after it are sent again.
 */
static void exchange(struct file_lane *lane, enum step step, struct file_item **items, size_t count)
{
	size_t sent = 0, done = 0;

	while (done < count && !cancel_requested(&lane->reader->cancel)) {
		if (!ensure_process(lane, step)) {
			finish(items[done++], EXECUTABLE_NO_PROGRAM);
			sent = done;
			continue;
		}
		while (sent < count && send_job(lane, step, items[sent]))
			sent++;

		enum sandbox_reply reply =
			sent > done ? receive(lane, step, items[done]) : SANDBOX_DIED;

		if (reply != SANDBOX_RESPONDED) {
			if (!take_failure(lane, step, items[done], reply))
				return;
			sent = done + 1;
		}
		done++;
	}
}

static void run_step(struct file_lane *lane, enum step step, struct file_item **items, size_t count)
{
	struct file_item *active[FILE_BATCH_MAX];
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!items[i]->is_done &&
		    (step < STEP_READ ||
		     (step == STEP_READ_TRUSTED) == items[i]->location.is_trusted))
			active[n++] = items[i];
	exchange(lane, step, active, n);
}

/* True: the other thread owns the item now. */
static bool move_on(struct file_lane *lane, struct file_item *item)
{
	reset(item);
	metric_add(&remote, 1);
	if (queue_push(&lane->reader->lanes[FILE_LANE_REMOTE].requests, item))
		return true;
	finish(item, EXECUTABLE_SKIPPED);
	return false;
}

/* What must wait goes to the other thread; there, what hung lately is not touched. Returns the
 * number of items that stay. */
static size_t sort_out(struct file_lane *lane, struct file_item **items, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct file_item *item = items[i];

		if (is_remote(lane) && !item->is_done &&
		    is_muted(lane, false, item->location.key.device))
			finish(item, EXECUTABLE_SKIPPED);
		if (is_remote(lane) || item->is_done || item->location.is_local ||
		    !move_on(lane, item))
			items[kept++] = item;
	}
	return kept;
}

/* A file with another build id than the kernel reported is not the mapped one: the next way may
 * lead to it. */
static void accept(struct file_item *item)
{
	AUTO_ARENA arena = { 0 };

	if (!item->found) /* the agent ends */
		return;
	if (!item->claim.build_id.len ||
	    (item->found->is_elf &&
	     str_eq(str_from(item->found->build_id), str_hex(&arena, item->claim.build_id)))) {
		finish(item, EXECUTABLE_READ);
		return;
	}
	item->way = item->location.way + 1;
	reset(item);
	if (item->way == FILE_WAY_COUNT)
		finish(item, EXECUTABLE_NOT_FOUND);
}

static void respond(struct file_lane *lane, struct file_item *item)
{
	struct executable_reading *reading = heap_new(struct executable_reading);
	bool is_read = item->end == EXECUTABLE_READ;

	metric_add_at(&ends, item->end, 1);
	log_debug("mapped file", "path=\"" STR_FMT "\" outcome=%s way=%d local=%d pid=%" PRIu32,
		  STR_ARG(item->claim.path), end_names[item->end], (int)item->location.way,
		  !is_remote(lane), item->claim.pid);
	*reading = (struct executable_reading){
		.executable = item->executable,
		.claim = item->claim,
		.end = item->end,
		.key = item->location.key,
		.fd = -1,
		.root = -1,
	};
	item->claim = (struct executable_claim){ 0 }; /* the reading's now */
	if (is_read) {
		size_t bytes = item->found->segment_count * sizeof(struct elf_segment);

		reading->is_trusted = item->location.is_trusted;
		reading->is_elf = item->found->is_elf;
		memcpy(reading->hash, item->found->hash, sizeof(reading->hash));
		memcpy(reading->build_id, item->found->build_id, sizeof(reading->build_id));
		reading->segments = heap_zeroed(bytes + 1, 1);
		memcpy(reading->segments, item->found->segments, bytes);
		reading->segment_count = item->found->segment_count;
		reading->fd = fd_take(&item->fd);
		reading->root = fd_take(&item->location.root);
	}
	if (!queue_push(&lane->reader->responses, reading)) /* it has room for all requests */
		executable_reading_free(reading);
	item_free(item);
}

/* Takes all steps once. Items that must be begun again are not done afterwards. Returns the number
 * of items that stay in this thread. */
static size_t run_steps(struct file_lane *lane, struct file_item **items, size_t count)
{
	run_step(lane, STEP_LOCATE, items, count);
	count = sort_out(lane, items, count);
	for (size_t i = 0; i < count; i++)
		if (!items[i]->is_done && items[i]->only_locate)
			finish(items[i], EXECUTABLE_LOCATED);
	run_step(lane, STEP_OPEN, items, count);
	run_step(lane, STEP_READ, items, count);
	run_step(lane, STEP_READ_TRUSTED, items, count);
	for (size_t i = 0; i < count; i++)
		if (!items[i]->is_done)
			accept(items[i]);
	return count;
}

static bool are_done(struct file_item *const *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!items[i]->is_done)
			return false;
	return true;
}

static void run_batch(struct file_lane *lane, struct file_item **items, size_t count)
{
	bool is_done = false;

	for (size_t i = 0; i < count; i++)
		if (is_remote(lane) && is_muted(lane, true, items[i]->claim.pid))
			finish(items[i], EXECUTABLE_SKIPPED);
	while (!is_done && !cancel_requested(&lane->reader->cancel)) {
		count = run_steps(lane, items, count);
		is_done = are_done(items, count);
	}
	lane->used_ns = clock_monotonic_ns();
	for (size_t i = 0; i < count; i++)
		if (items[i]->is_done)
			respond(lane, items[i]);
		else
			item_free(items[i]); /* cancelled */
}

static void stop_idle(struct file_lane *lane)
{
	bool is_idle = clock_monotonic_ns() - lane->used_ns >= FILE_READER_IDLE_MS * NS_PER_MS;

	if (!is_idle)
		return;
	sandbox_stop(&lane->opener, SANDBOX_RESPONDED);
	sandbox_stop(&lane->parser, SANDBOX_RESPONDED);
	sandbox_stop(&lane->trusted_parser, SANDBOX_RESPONDED);
}

static void *lane_run(void *self)
{
	struct file_lane *lane = self;

	liveness_begin("file reader");
	while (!cancel_requested(&lane->reader->cancel)) {
		struct file_item *items[FILE_BATCH_MAX];
		bool has_process = lane->opener.pid || lane->opener.left_count;
		uint64_t wait_ms = has_process ? FILE_READER_IDLE_MS : UPLOAD_IDLE_MS;
		size_t count = 0;
		void *item;

		while (count < FILE_BATCH_MAX &&
		       queue_pop(&lane->requests, &item, count ? 0 : wait_ms))
			items[count++] = item;
		if (count)
			run_batch(lane, items, count);
		else
			stop_idle(lane);
	}
	sandbox_stop(&lane->opener, SANDBOX_CANCELLED);
	sandbox_stop(&lane->parser, SANDBOX_CANCELLED);
	sandbox_stop(&lane->trusted_parser, SANDBOX_CANCELLED);
	liveness_end();
	return NULL;
}

static bool request(void *self, struct executable *executable, const struct executable_claim *claim,
		    bool only_locate)
{
	struct file_reader *reader = self;

	if (claim->path.len >= FILE_JOB_PATH_MAX || claim->build_id.len > BUILD_ID_BYTES_MAX)
		return false;

	struct file_item *item = heap_new(struct file_item);

	item->executable = executable;
	item->only_locate = only_locate;
	item->claim = *claim;
	item->claim.process = NULL;
	item->claim.path.ptr = heap_str(claim->path);
	item->claim.build_id.ptr = heap_str(claim->build_id);
	item->fd = item->location.file = item->location.root = -1;
	if (queue_push(&reader->lanes[FILE_LANE_LOCAL].requests, item))
		return true;
	item_free(item);
	return false;
}

static bool receive_reading(void *self, struct executable_reading **ret_reading)
{
	struct file_reader *reader = self;
	void *item;

	if (!queue_pop(&reader->responses, &item, 0))
		return false;
	*ret_reading = item;
	return true;
}

struct executable_source file_reader_source(struct file_reader *reader)
{
	return (struct executable_source){ .request = request,
					   .receive = receive_reading,
					   .self = reader };
}

/* Signals are the main thread's. */
static bool start_lane(struct file_lane *lane)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	lane->running = pthread_create(&lane->thread, NULL, lane_run, lane) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (lane->running)
		pthread_setname_np(lane->thread, "mapped_files");
	return lane->running;
}

bool file_reader_start(struct file_reader *reader, uint64_t sandbox_uid, struct err *err)
{
	bool running = true;

	*reader = (struct file_reader){ .cancel = { .fd = -1 } };
	if (!cancel_open(&reader->cancel, err))
		return false;
	snprintf(reader->sandbox_uid, sizeof(reader->sandbox_uid), "%" PRIu64, sandbox_uid);
	queue_init(&reader->responses, FILE_REQUESTS_MAX * (FILE_LANE_COUNT + 1));
	for (size_t i = 0; i < FILE_LANE_COUNT; i++) {
		reader->lanes[i].reader = reader;
		queue_init(&reader->lanes[i].requests, FILE_REQUESTS_MAX);
	}
	for (size_t i = 0; i < FILE_LANE_COUNT; i++)
		running = running && start_lane(&reader->lanes[i]);
	if (running)
		return true;
	file_reader_stop(reader);
	return err_set(err, ERR_IO, "start the threads that read mapped files");
}

void file_reader_stop(struct file_reader *reader)
{
	struct executable_reading *unread;
	void *item;

	if (!reader->lanes[0].reader)
		return;
	cancel_request(&reader->cancel);
	for (size_t i = 0; i < FILE_LANE_COUNT; i++)
		queue_close(&reader->lanes[i].requests);
	for (size_t i = 0; i < FILE_LANE_COUNT; i++)
		if (reader->lanes[i].running)
			pthread_join(reader->lanes[i].thread, NULL);
	for (size_t i = 0; i < FILE_LANE_COUNT; i++) {
		while (queue_pop(&reader->lanes[i].requests, &item, 0))
			item_free(item);
		queue_done(&reader->lanes[i].requests);
	}
	while (receive_reading(reader, &unread))
		executable_reading_free(unread);
	queue_done(&reader->responses);
	cancel_close(&reader->cancel);
	*reader = (struct file_reader){ .cancel = { .fd = -1 } };
}
