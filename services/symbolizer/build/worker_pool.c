// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/build/worker_pool.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/metrics/metrics.h"
#include "symbolizer/build/build_worker.h"
#include "symbolizer/symbolizer_limits.h"
#include "symbolizer/tables/table_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	POP_MS = 500,
	ATTEMPTS_MAX = 3,
	FETCHES_PER_FILE = 3 /* debuginfo, executable, dwz file */
};

enum build_outcome {
	BUILT,
	ABSENT,
	UNAVAILABLE,
	MALFORMED,
	TOO_LARGE,
	CRASHED,
	LATE,
	OUTRUN,
	OUTCOMES
};
static const char *const outcome_names[OUTCOMES] = {
	[BUILT] = "built",         [ABSENT] = "absent",       [UNAVAILABLE] = "unavailable",
	[MALFORMED] = "malformed", [TOO_LARGE] = "too_large", [CRASHED] = "crashed",
	[LATE] = "late",           [OUTRUN] = "superseded",
};

static struct metric builds = {
	.name = "decima_symbolizer_builds_total",
	.kind = METRIC_COUNTER,
	.help = "Builds of symbol tables, by outcome. crashed: the worker died; late: the worker "
		"took too long; superseded: the file was replaced during the fetch.",
	.label = "outcome",
	.values = outcome_names,
	.value_count = OUTCOMES
};
static struct metric fetched = { .name = "decima_symbolizer_fetched_files_total",
				 .kind = METRIC_COUNTER,
				 .help = "Files fetched from debuginfod servers." };
static struct metric fetched_bytes = {
	.name = "decima_symbolizer_fetched_bytes_total",
	.kind = METRIC_COUNTER,
	.help = "Bytes of the files fetched from debuginfod servers."
};
static struct metric fetch_seconds = { .name = "decima_symbolizer_fetch_duration_seconds",
				       .kind = METRIC_HISTOGRAM,
				       .help = "Time to fetch a debug file.",
				       METRIC_IN_SECONDS };
static struct metric build_seconds = { .name = "decima_symbolizer_build_duration_seconds",
				       .kind = METRIC_HISTOGRAM,
				       .help = "Time to build the symbol table of a fetched file.",
				       METRIC_IN_SECONDS };
static struct metric waiting = { .name = "decima_symbolizer_waiting_files",
				 .kind = METRIC_GAUGE,
				 .help = "Files waiting for a worker." };
struct metric *const worker_pool_metrics[WORKER_POOL_METRICS] = { &builds,        &fetched,
								  &fetched_bytes, &fetch_seconds,
								  &build_seconds, &waiting };

static const enum build_outcome outcome_of[NAME_REASON_COUNT] = {
	[NAME_KNOWN] = BUILT,
	[NAME_NO_DEBUG_INFO] = ABSENT,
	[NAME_UNAVAILABLE] = UNAVAILABLE,
	[NAME_MALFORMED] = MALFORMED,
	[NAME_TOO_LARGE] = TOO_LARGE,
};

/* A thread of the pool, with its worker process. */
struct worker_thread {
	struct worker_pool *pool;
	struct build_worker worker;
	char directory[PATH_MAX]; /* the working directory of the worker */
	char table[32];           /* the table that it builds, a path below the tables' directory */
};

/* Wait for the next report. False: the worker died, the deadline passed, or the service is
 * stopping. */
static bool receive_report(const struct worker_thread *thread, uint64_t deadline_ns,
			   struct build_report *report, bool *ret_late)
{
	const struct cancel *cancel = thread->pool->options.cancel;
	struct pollfd fds[2] = { { .fd = thread->worker.socket, .events = POLLIN },
				 { .fd = cancel->fd, .events = POLLIN } };

	*ret_late = false;
	while (!cancel_requested(cancel)) {
		uint64_t now_ns = clock_monotonic_ns();

		if (now_ns >= deadline_ns) {
			*ret_late = true;
			return false;
		}
		if (poll(fds, 2, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) > 0 &&
		    fds[0].revents)
			return recv(thread->worker.socket, report, sizeof(*report), 0) ==
			       (ssize_t)sizeof(*report);
	}
	return false;
}

/* The worker died or was too late. If the file had been fetched, the file is to blame (MALFORMED or
 * TOO_LARGE); else it is UNAVAILABLE. */
static void handle_exit(struct worker_thread *thread, const struct build_id *id, bool is_late,
			bool has_fetched, struct build_report *report)
{
	bool is_stopping = cancel_requested(thread->pool->options.cancel);
	int status = 0;

	if (!is_late && !is_stopping)
		clock_sleep_ms(10); /* the socket closes before the process can be waited for */
	status = build_worker_stop(&thread->worker);
	is_late |= WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
	*report = (struct build_report){ .stage = BUILD_DONE, .reason = NAME_UNAVAILABLE };
	if (is_stopping) {
		report->reason = NAME_PENDING;
		return;
	}
	if (has_fetched)
		report->reason = is_late ? NAME_TOO_LARGE : NAME_MALFORMED;
	metric_add_at(&builds, is_late ? LATE : CRASHED, 1);
	log_warn("worker ended", "build_id=%s while=%s late=%s signal=%d", id->text,
		 has_fetched ? "reading" : "fetching", is_late ? "yes" : "no",
		 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static uint32_t servers_to_skip(const struct worker_pool *pool)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint32_t servers = 0;

	for (size_t i = 0; i < pool->generations->servers->count; i++)
		servers |= (uint32_t)(now_ns < pool->skip_until_ns[i]) << i;
	return servers;
}

static void note_hung(struct worker_pool *pool, const struct build_report *report)
{
	uint64_t until_ns = clock_monotonic_ns() + HUNG_PAUSE_SECONDS * NS_PER_SECOND;

	for (size_t i = 0; i < pool->generations->servers->count; i++)
		if (report->hung >> i & 1)
			pool->skip_until_ns[i] = until_ns;
}

/* Start a worker if there is none. An idle worker sends nothing, so an event means that it died. */
static bool ensure_worker(struct worker_thread *thread, struct err *err)
{
	struct pollfd fd = { .fd = thread->worker.socket, .events = POLLIN };

	if (thread->worker.pid && poll(&fd, 1, 0) > 0)
		build_worker_stop(&thread->worker);
	if (thread->worker.pid)
		return true;
	table_files_empty(AT_FDCWD, thread->directory);
	return build_worker_start(&thread->worker, thread->directory, thread->pool->options.servers,
				  err);
}

/* Let the worker fetch and read one file. */
static void run_job(struct worker_thread *thread, const struct build_id *id,
		    struct build_report *report)
{
	uint64_t servers = thread->pool->generations->servers->count;
	uint64_t fetch_ns = FETCHES_PER_FILE * servers * (FETCH_SECONDS + 5) * NS_PER_SECOND;
	struct build_job job = { .id = *id, .skipped_servers = servers_to_skip(thread->pool) };
	bool is_late = false, has_fetched = false;
	struct err err = { 0 };

	*report = (struct build_report){ .stage = BUILD_DONE, .reason = NAME_PENDING };
	if (cancel_requested(thread->pool->options.cancel))
		return;
	if (!ensure_worker(thread, &err)) {
		log_error("worker not started", "error=\"%s\"", err.msg);
		report->reason = NAME_UNAVAILABLE;
		return;
	}
	if (send(thread->worker.socket, &job, sizeof(job), MSG_NOSIGNAL) < 0 ||
	    !receive_report(thread, clock_monotonic_ns() + fetch_ns, report, &is_late)) {
		handle_exit(thread, id, is_late, false, report);
		return;
	}
	note_hung(thread->pool, report);
	if (report->stage == BUILD_FETCHED) {
		has_fetched = true;
		metric_add(&fetched, 1);
		metric_add(&fetched_bytes, report->bytes);
		metric_observe(&fetch_seconds, report->duration_ns);
		if (!receive_report(thread, clock_monotonic_ns() + BUILD_SECONDS * NS_PER_SECOND,
				    report, &is_late)) {
			handle_exit(thread, id, is_late, true, report);
			return;
		}
		metric_observe(&build_seconds, report->duration_ns);
	}
	if (has_fetched)
		build_worker_stop(&thread->worker);
	metric_add_at(&builds, outcome_of[report->reason], 1);
	if (report->reason != NAME_KNOWN && report->reason != NAME_NO_DEBUG_INFO)
		log_warn("no table", "build_id=%s reason=%s error=\"%s\"", id->text,
			 name_reason_names[report->reason], report->why);
}

/* How long a failure is cached. */
static uint64_t negative_ttl_ns(const struct worker_pool *pool, enum name_reason reason)
{
	uint64_t seconds = FAILED_SECONDS;

	if (reason == NAME_NO_DEBUG_INFO)
		seconds = generations_has_foreign(pool->generations) ? ABSENT_FOREIGN_SECONDS
								     : ABSENT_SECONDS;
	if (reason == NAME_MALFORMED || reason == NAME_TOO_LARGE)
		seconds = UNREADABLE_SECONDS;
	return seconds * NS_PER_SECOND;
}

static void build_table(struct worker_thread *thread, const struct build_id *id)
{
	struct worker_pool *pool = thread->pool;
	struct table_result result = { .reason = NAME_PENDING, .file = thread->table };
	struct build_report report;
	struct err err = { 0 };

	for (int i = 0; i < ATTEMPTS_MAX; i++) {
		uint64_t before = generations_refresh(pool->generations, id), after;

		run_job(thread, id, &report);
		after = generations_refresh(pool->generations, id);
		result.reason = report.reason;
		result.generation = after == GENERATION_UNKNOWN ? 0 : after;
		result.is_fallback = report.is_fallback;
		result.ttl_ns = negative_ttl_ns(pool, report.reason);
		if (report.reason == NAME_PENDING || before == after ||
		    before == GENERATION_UNKNOWN)
			break;
		metric_add_at(&builds, OUTRUN, 1);
		result.reason = NAME_PENDING;
	}
	if (!tables_finish(pool->tables, id, &result, &err))
		log_error("table not stored", "build_id=%s error=\"%s\"", id->text, err.msg);
	else if (result.reason == NAME_KNOWN)
		log_info("table built", "build_id=%s generation=%ju of=%s", id->text,
			 (uintmax_t)result.generation,
			 result.is_fallback ? "executable" : "debuginfo");
}

static void *worker_thread_main(void *self)
{
	struct worker_thread thread = { .pool = self };
	struct worker_pool *pool = self;
	unsigned int number = pool->next_number++;
	void *item;

	snprintf(thread.table, sizeof(thread.table), "work/%u/table", number);
	snprintf(thread.directory, sizeof(thread.directory), "%s/work/%u", pool->options.directory,
		 number);
	if (mkdir(thread.directory, 0750) && errno != EEXIST)
		log_error("working directory not created", "directory=%s", thread.directory);
	while (!queue_is_closed(&pool->queue) || queue_len(&pool->queue)) {
		if (!queue_pop(&pool->queue, &item, POP_MS))
			continue;
		metric_set(&waiting, (int64_t)queue_len(&pool->queue));
		build_table(&thread, item);
		free(item);
	}
	build_worker_stop(&thread.worker);
	return NULL;
}

bool worker_pool_start(struct worker_pool *pool, const struct worker_pool_options *options,
		       struct tables *tables, struct generations *generations, struct err *err)
{
	*pool = (struct worker_pool){ .options = *options,
				      .tables = tables,
				      .generations = generations };
	_Static_assert(WORKERS <= ARRAY_LEN(pool->threads), "one thread for each worker");
	queue_init(&pool->queue, BUILD_QUEUE_MAX);
	for (; pool->thread_count < WORKERS; pool->thread_count++) {
		errno = pthread_create(&pool->threads[pool->thread_count], NULL, worker_thread_main,
				       pool);
		if (errno) {
			err_errno(err, "start a thread");
			worker_pool_stop(pool);
			return false;
		}
	}
	return true;
}

void worker_pool_stop(struct worker_pool *pool)
{
	if (!pool->tables)
		return;
	queue_close(&pool->queue);
	for (unsigned int i = 0; i < pool->thread_count; i++)
		pthread_join(pool->threads[i], NULL);
	queue_done(&pool->queue);
	pool->tables = NULL;
}

bool worker_pool_submit(struct worker_pool *pool, const struct build_id *id)
{
	struct table_result not_built = { .reason = NAME_PENDING };
	struct build_id *item = malloc(sizeof(*item));
	struct err err;

	if (!item)
		abort(); /* out of memory, as an arena would */
	*item = *id;
	if (queue_push(&pool->queue, item)) {
		metric_set(&waiting, (int64_t)queue_len(&pool->queue));
		return true;
	}
	free(item);
	(void)!tables_finish(pool->tables, id, &not_built, &err);
	return false;
}
