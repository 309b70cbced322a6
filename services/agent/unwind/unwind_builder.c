// SPDX-License-Identifier: Apache-2.0
#include "agent/unwind/unwind_builder.h"

#include "agent/agent_limits.h"
#include "agent/unwind/unwind_message_internal.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/liveness.h"
#include "base/log.h"
#include "server/metrics/metrics.h"
#include "unwind/unwind_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum cache_error { CACHE_ERROR_CORRUPT, CACHE_ERROR_READ, CACHE_ERROR_WRITE, CACHE_ERROR_COUNT };
static const char *const cache_error_names[CACHE_ERROR_COUNT] = { "corrupt", "read", "write" };

#define UNWIND_BUILDER_METRICS(ROW)                                                               \
	ROW(built, METRIC_HISTOGRAM, "decima_agent_unwind_table_build_seconds",                   \
	    "Time to build an unwind table.", METRIC_IN_SECONDS)                                  \
	ROW(rows, METRIC_COUNTER, "decima_agent_unwind_rows_built_total",                         \
	    "Rows of unwind tables that were built.")                                             \
	ROW(cached, METRIC_COUNTER, "decima_agent_unwind_tables_cached_total",                    \
	    "Unwind tables that came from the cache on disk.")                                    \
	ROW(cache_errors, METRIC_COUNTER, "decima_agent_unwind_cache_errors_total",               \
	    "Unwind tables that were corrupt in the cache on disk, or could not be read from it " \
	    "or written to it; a table that cannot be read is built again.",                      \
	    METRIC_LABEL("reason", cache_error_names, CACHE_ERROR_COUNT))                         \
	ROW(cache_bytes, METRIC_GAUGE, "decima_agent_unwind_cache_bytes",                         \
	    "Size of the cache of unwind tables on disk.")                                        \
	ROW(cache_removed, METRIC_COUNTER, "decima_agent_unwind_cache_removed_total",             \
	    "Unwind tables removed from the cache on disk to make room.")                         \
	ROW(cache_left_out, METRIC_COUNTER, "decima_agent_unwind_cache_left_out_total",           \
	    "Unwind tables not stored on disk because it has little free space, which is kept "   \
	    "for the spool.")                                                                     \
	ROW(cpu, METRIC_COUNTER, "decima_agent_unwind_builder_cpu_seconds_total",                 \
	    "CPU time of the processes that built unwind tables, counted when a process ends.",   \
	    .unit = NS_PER_SECOND)                                                                \
	ROW(peak, METRIC_GAUGE, "decima_agent_unwind_builder_peak_bytes",                         \
	    "Peak memory of a process that built unwind tables.")                                 \
	ROW(starts, METRIC_COUNTER, "decima_agent_unwind_builder_starts_total",                   \
	    "Processes started to build unwind tables.")

METRICS(unwind_builder_metrics, UNWIND_BUILDER_METRICS);

struct table_job {
	char build_id[BUILD_ID_TEXT_MAX]; /* of the executable: its own_id */
	uint64_t number;
	bool is_trusted;
	char name[UNWIND_CACHE_NAME_MAX];
	int fd; /* -1: only the cache is to be read */
};

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Once sealed, the file cannot change any more; then all of it is verified. */
static bool seal_and_verify(int fd, uint32_t *ret_pages, struct err *err)
{
	struct unwind_file file = { 0 };

	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
		return err_errno(err, "seal a table");
	if (!unwind_file_open(&file, fd, err))
		return false;
	*ret_pages = file.page_count;
	unwind_file_close(&file);
	return true;
}

static int make_file(void)
{
	return memfd_create("unwind", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static bool fetch(struct unwind_builder *builder, const char *name,
		  struct unwind_table_response *response)
{
	AUTO_FD kept = unwind_cache_get(&builder->cache, name);
	AUTO_FD fd = kept < 0 ? -1 : make_file();
	struct err err;

	if (fd < 0)
		return false;
	if (!unwind_cache_copy(kept, fd, &err)) {
		metric_add_at(&cache_errors, CACHE_ERROR_READ, 1);
	} else if (seal_and_verify(fd, &response->pages, &err)) {
		metric_add(&cached, 1);
		response->fd = fd_take(&fd);
		return true;
	} else {
		metric_add_at(&cache_errors, CACHE_ERROR_CORRUPT, 1);
	}
	log_warn("cached unwind table unusable", "name=%s error=\"%s\"", name, err.msg);
	unwind_cache_remove(&builder->cache, name);
	return false;
}

static struct sandbox *worker_of(struct unwind_builder *builder, const struct table_job *job)
{
	return &builder->workers[job->is_trusted ? UNWIND_WORKER_TRUSTED : UNWIND_WORKER_OTHERS];
}

static bool ensure_worker(struct unwind_builder *builder, struct sandbox *worker)
{
	const char *arguments[] = { builder->sandbox_uid, NULL };
	const struct sandbox_options options = { .program = UNWIND_BUILDER_NAME,
						 .arguments = arguments,
						 .cancel = &builder->cancel };
	struct err err;

	if (worker->pid)
		return true;
	if (sandbox_start(worker, &options, &err)) {
		builder->is_missing = false;
		return true;
	}
	if (!builder->is_missing && err.code != ERR_CANCELLED)
		log_error("unwind table builder not started: stacks without frame pointers stay "
			  "incomplete",
			  "error=\"%s\"", err.msg);
	builder->is_missing = true;
	return false;
}

/* Returns an enum unwind_outcome. */
static uint32_t build_once(struct unwind_builder *builder, const struct table_job *job, int fd)
{
	struct unwind_job_message message = { 0 };
	struct unwind_response_message result = { 0 };
	struct sandbox *worker = worker_of(builder, job);
	uint64_t began_ns = clock_monotonic_ns();

	snprintf(message.build_id, sizeof(message.build_id), "%s", job->build_id);
	if (!ensure_worker(builder, worker))
		return UNWIND_IO;

	const int fds[SANDBOX_FDS_MAX] = { job->fd, fd, -1 };
	enum sandbox_reply reply = SANDBOX_DIED;

	if (sandbox_send(worker, &message, sizeof(message), fds))
		reply = sandbox_wait(worker, UNWIND_BUILD_MS, &builder->cancel, &result,
				     sizeof(result), NULL);
	builder->used_ns = clock_monotonic_ns();
	if (reply == SANDBOX_RESPONDED && result.outcome >= UNWIND_OUTCOME_COUNT)
		reply = SANDBOX_INVALID;
	if (reply != SANDBOX_RESPONDED) {
		enum sandbox_end end = sandbox_stop(worker, reply);

		if (reply != SANDBOX_CANCELLED)
			log_warn("unwind table builder ended", "build_id=%s reason=%s",
				 job->build_id, sandbox_end_names[end]);
		return reply == SANDBOX_BUSY ? UNWIND_TIMED_OUT : UNWIND_CRASHED;
	}
	metric_observe(&built, builder->used_ns - began_ns);
	metric_add(&rows, result.rows);
	result.error[sizeof(result.error) - 1] = 0;
	log_debug("unwind table built",
		  "build_id=%s outcome=%s rows=%" PRIu64 " cpu_us=%" PRIu64 " why=\"%s\"",
		  job->build_id, unwind_outcome_names[result.outcome], result.rows,
		  result.cpu_ns / 1000, result.error);
	return result.outcome;
}

/* The builder may have been killed for a reason other than this file, so a crash is retried once.
 */
static void build(struct unwind_builder *builder, const struct table_job *job,
		  struct unwind_table_response *response)
{
	response->outcome = UNWIND_UNREADABLE;
	for (int i = 0; i < UNWIND_BUILD_TRIES && job->fd >= 0; i++) {
		AUTO_FD fd = make_file();
		struct err err;

		response->outcome = fd < 0 ? UNWIND_IO : build_once(builder, job, fd);
		if (cancel_requested(&builder->cancel))
			return;
		if (response->outcome == UNWIND_CRASHED)
			continue;
		if (response->outcome != UNWIND_BUILT)
			return;
		if (!seal_and_verify(fd, &response->pages, &err)) {
			log_warn("built unwind table is malformed", "build_id=%s error=\"%s\"",
				 job->build_id, err.msg);
			response->outcome = UNWIND_CRASHED;
			return;
		}
		if (!unwind_cache_put(&builder->cache, job->name, fd, &err)) {
			metric_add_at(&cache_errors, CACHE_ERROR_WRITE, 1);
			log_warn("unwind table not stored on disk", "build_id=%s error=\"%s\"",
				 job->build_id, err.msg);
		}
		response->fd = fd_take(&fd);
		return;
	}
}

static void measure(const struct unwind_builder *builder)
{
	uint64_t cpu_ns = 0, peak_bytes = 0, started = 0;

	metric_set(&cache_bytes, (int64_t)builder->cache.bytes);
	metric_set(&cache_removed, (int64_t)builder->cache.removed);
	metric_set(&cache_left_out, (int64_t)builder->cache.left_out);
	for (size_t i = 0; i < UNWIND_WORKER_COUNT; i++) {
		const struct sandbox *worker = &builder->workers[i];

		cpu_ns += worker->cpu_ns;
		started += worker->started;
		if (worker->peak_bytes > peak_bytes)
			peak_bytes = worker->peak_bytes;
	}
	metric_set(&cpu, (int64_t)cpu_ns);
	metric_set(&peak, (int64_t)peak_bytes);
	metric_set(&starts, (int64_t)started);
}

static bool is_running(const struct unwind_builder *builder)
{
	return builder->workers[UNWIND_WORKER_TRUSTED].pid ||
	       builder->workers[UNWIND_WORKER_OTHERS].pid;
}

static void stop_workers(struct unwind_builder *builder)
{
	for (size_t i = 0; i < UNWIND_WORKER_COUNT; i++)
		sandbox_stop(&builder->workers[i], SANDBOX_RESPONDED);
}

static void run_job(struct unwind_builder *builder, struct table_job *job)
{
	struct unwind_table_response *response = heap_new(struct unwind_table_response);

	response->fd = -1;
	response->number = job->number;
	memcpy(response->own_id, job->build_id, sizeof(response->own_id));
	if (!fetch(builder, job->name, response))
		build(builder, job, response);
	measure(builder);
	close_file(&job->fd);
	free(job);
	if (queue_push(&builder->responses, response))
		return;
	close_file(&response->fd); /* cannot happen: the queue has room for UNWIND_REQUESTS_MAX
				      responses */
	free(response);
}

static void *builder_run(void *self)
{
	struct unwind_builder *builder = self;
	void *item;

	liveness_begin("unwind builder");
	while (!cancel_requested(&builder->cancel)) {
		uint64_t wait_ms = is_running(builder) ? UNWIND_BUILDER_IDLE_MS : UPLOAD_IDLE_MS;

		if (queue_pop(&builder->requests, &item, wait_ms))
			run_job(builder, item);
		else if (is_running(builder) && clock_monotonic_ns() - builder->used_ns >=
							UNWIND_BUILDER_IDLE_MS * NS_PER_MS)
			stop_workers(builder);
		measure(builder);
	}
	stop_workers(builder);
	liveness_end();
	return NULL;
}

/* Trusted files with one build id have one table. Others may say what they like: their tables are
 * those of their inode as it was. */
static void name_table(const struct executable *executable, char name[UNWIND_CACHE_NAME_MAX])
{
	const struct executable_key *key = &executable->key;

	if (executable->is_trusted)
		snprintf(name, UNWIND_CACHE_NAME_MAX, "%s-root", executable->own_id);
	else
		snprintf(name, UNWIND_CACHE_NAME_MAX,
			 "%s-%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64, executable->own_id,
			 key->device, key->inode, key->changed_ns, key->size);
}

static bool request(void *self, const struct executable *executable, int fd)
{
	struct unwind_builder *builder = self;
	struct table_job *job = heap_new(struct table_job);

	job->fd = fd;
	job->number = executable->number;
	job->is_trusted = executable->is_trusted;
	memcpy(job->build_id, executable->own_id, sizeof(job->build_id));
	name_table(executable, job->name);
	if (queue_push(&builder->requests, job))
		return true;
	free(job);
	return false;
}

static bool receive(void *self, struct unwind_table_response *ret_response)
{
	struct unwind_builder *builder = self;
	void *item;

	if (!queue_pop(&builder->responses, &item, 0))
		return false;
	*ret_response = *(struct unwind_table_response *)item;
	free(item);
	return true;
}

struct unwind_table_source unwind_builder_source(struct unwind_builder *builder)
{
	return (struct unwind_table_source){ .request = request,
					     .receive = receive,
					     .self = builder };
}

bool unwind_builder_start(struct unwind_builder *builder,
			  const struct unwind_builder_options *options, struct err *err)
{
	sigset_t all, before;

	*builder = (struct unwind_builder){ .cancel = { .fd = -1 } };
	if (!cancel_open(&builder->cancel, err))
		return false;
	snprintf(builder->sandbox_uid, sizeof(builder->sandbox_uid), "%" PRIu64,
		 options->sandbox_uid);
	unwind_cache_open(&builder->cache, options->state_directory, options->cache_max_bytes);
	queue_init(&builder->requests, UNWIND_REQUESTS_MAX);
	queue_init(&builder->responses, UNWIND_REQUESTS_MAX);
	sigfillset(&all); /* signals are the main thread's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	builder->running = pthread_create(&builder->thread, NULL, builder_run, builder) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!builder->running) {
		queue_done(&builder->requests);
		queue_done(&builder->responses);
		unwind_cache_close(&builder->cache);
		cancel_close(&builder->cancel);
		return err_set(err, ERR_IO, "start the thread that fetches unwind tables");
	}
	pthread_setname_np(builder->thread, "unwind_tables");
	return true;
}

void unwind_builder_stop(struct unwind_builder *builder)
{
	struct unwind_table_response unread;
	void *item;

	if (!builder->running)
		return;
	cancel_request(&builder->cancel);
	queue_close(&builder->requests);
	pthread_join(builder->thread, NULL);
	builder->running = false;
	while (queue_pop(&builder->requests, &item, 0)) {
		struct table_job *job = item;

		close_file(&job->fd);
		free(job);
	}
	while (receive(builder, &unread))
		close_file(&unread.fd);
	queue_done(&builder->requests);
	queue_done(&builder->responses);
	unwind_cache_close(&builder->cache);
	cancel_close(&builder->cancel);
}
