// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/build/worker_pool.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "sandbox/sandbox.h"
#include "server/metrics/metrics.h"
#include "symbolizer/build/build_worker.h"
#include "symbolizer/build/fetch_worker.h"
#include "symbolizer/symbolizer_limits.h"
#include "symbolizer/tables/table_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	POP_MS = 500,
	ATTEMPTS_MAX = 3,
	QUERIES_PER_FILE = 2 /* debuginfo, executable */
};

#define BUILD_OUTCOMES(ROW)             \
	ROW(BUILT, "built")             \
	ROW(ABSENT, "absent")           \
	ROW(UNAVAILABLE, "unavailable") \
	ROW(MALFORMED, "malformed")     \
	ROW(TOO_LARGE, "too_large")     \
	ROW(CRASHED, "crashed")         \
	ROW(LATE, "late")               \
	ROW(OUTRUN, "superseded")

enum build_outcome { BUILD_OUTCOMES(NAMED_CONSTANT) OUTCOMES };
static const char *const outcome_names[OUTCOMES] = { BUILD_OUTCOMES(NAMED_TEXT) };

#define WORKER_POOL_METRICS(ROW)                                                               \
	ROW(builds, METRIC_COUNTER, "decima_symbolizer_builds_total",                          \
	    "Builds of symbol tables, by outcome. crashed: the worker died; late: the worker " \
	    "took too long; superseded: the file was replaced during the fetch.",              \
	    METRIC_LABEL("outcome", outcome_names, OUTCOMES))                                  \
	ROW(fetched, METRIC_COUNTER, "decima_symbolizer_fetched_files_total",                  \
	    "Files fetched from debuginfod servers.")                                          \
	ROW(fetched_bytes, METRIC_COUNTER, "decima_symbolizer_fetched_bytes_total",            \
	    "Bytes of the files fetched from debuginfod servers.")                             \
	ROW(fetch_seconds, METRIC_HISTOGRAM, "decima_symbolizer_fetch_duration_seconds",       \
	    "Time to fetch a debug file.", METRIC_IN_SECONDS)                                  \
	ROW(build_seconds, METRIC_HISTOGRAM, "decima_symbolizer_build_duration_seconds",       \
	    "Time to build the symbol table of a fetched file.", METRIC_IN_SECONDS)            \
	ROW(waiting, METRIC_GAUGE, "decima_symbolizer_waiting_files", "Files waiting for a worker.")

METRICS(worker_pool_metrics, WORKER_POOL_METRICS);

static const enum build_outcome outcome_of[NAME_REASON_COUNT] = {
	[NAME_KNOWN] = BUILT,
	[NAME_NO_DEBUG_INFO] = ABSENT,
	[NAME_UNAVAILABLE] = UNAVAILABLE,
	[NAME_MALFORMED] = MALFORMED,
	[NAME_TOO_LARGE] = TOO_LARGE,
};

struct build_result {
	enum name_reason reason;
	enum build_outcome outcome; /* counted unless the reason is NAME_PENDING */
	bool is_fallback;           /* built from an executable, or without its dwz file */
	char why[256];
};

/* A thread of the pool, with its child processes. */
struct worker_thread {
	struct worker_pool *pool;
	struct sandbox fetcher, builder;
	char directory[PATH_MAX]; /* the working directory of the fetcher */
	char table[32];           /* the table that is built, a path below the tables' directory */
};

static bool fail(struct build_result *result, enum name_reason reason, const char *why)
{
	result->reason = reason;
	result->outcome = outcome_of[reason];
	snprintf(result->why, sizeof(result->why), "%s", why);
	return false;
}

/* A child process cannot be started, or the table cannot be created. */
static bool fail_start(struct build_result *result, enum build_outcome outcome,
		       const struct err *err)
{
	if (err->code == ERR_CANCELLED)
		return fail(result, NAME_PENDING, "");
	log_error("worker not started", "error=\"%s\"", err->msg);
	fail(result, NAME_UNAVAILABLE, err->msg);
	result->outcome = outcome;
	return false;
}

static enum build_outcome outcome_of_end(enum sandbox_end end)
{
	switch (end) {
	case SANDBOX_END_TIMEOUT:
	case SANDBOX_END_CPU_TIME:
		return LATE;
	case SANDBOX_END_MEMORY:
	case SANDBOX_END_FILE_SIZE:
		return TOO_LARGE;
	case SANDBOX_END_STOPPED:
	case SANDBOX_END_FORBIDDEN:
	case SANDBOX_END_BAD_RESPONSE:
	case SANDBOX_END_CRASHED:
	case SANDBOX_END_KILLED:
	case SANDBOX_END_COUNT:
		break;
	}
	return CRASHED;
}

/* A child process died or was too late. If it read the file, the file is to blame (MALFORMED or
 * TOO_LARGE); else the file is UNAVAILABLE. */
static bool fail_exit(struct worker_thread *thread, struct sandbox *child,
		      const struct build_id *id, enum sandbox_reply reply,
		      struct build_result *result)
{
	enum sandbox_end end = sandbox_stop(child, reply);
	bool is_reading = child == &thread->builder;
	enum name_reason reason = NAME_UNAVAILABLE;

	if (reply == SANDBOX_CANCELLED)
		return fail(result, NAME_PENDING, "");
	log_warn("worker ended", "build_id=%s while=%s reason=%s", id->text,
		 is_reading ? "reading" : "fetching", sandbox_end_names[end]);
	if (is_reading)
		reason = outcome_of_end(end) == CRASHED ? NAME_MALFORMED : NAME_TOO_LARGE;
	fail(result, reason, sandbox_end_names[end]);
	result->outcome = outcome_of_end(end);
	return false;
}

static uint32_t servers_to_skip(const struct worker_pool *pool)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint32_t servers = 0;

	for (size_t i = 0; i < pool->generations->servers->count; i++)
		servers |= (uint32_t)(now_ns < pool->skip_until_ns[i]) << i;
	return servers;
}

static void note_hung(struct worker_pool *pool, const struct fetch_report *report)
{
	uint64_t until_ns = clock_monotonic_ns() + HUNG_PAUSE_SECONDS * NS_PER_SECOND;

	for (size_t i = 0; i < pool->generations->servers->count; i++)
		if (report->hung >> i & 1)
			pool->skip_until_ns[i] = until_ns;
}

/* Start the fetcher if there is none. An idle one sends nothing, so a message means that it died.
 */
static bool ensure_fetcher(struct worker_thread *thread, struct err *err)
{
	const char *arguments[] = { FETCH_WORKER_MODE, thread->directory,
				    thread->pool->options.servers, NULL };
	const struct sandbox_options options = { .arguments = arguments,
						 .keeps_environment = true,
						 .cancel = thread->pool->options.cancel };
	char byte;

	if (thread->fetcher.pid) {
		enum sandbox_reply reply =
			sandbox_wait(&thread->fetcher, 0, NULL, &byte, sizeof(byte), NULL);

		if (reply == SANDBOX_BUSY)
			return true;
		sandbox_stop(&thread->fetcher, reply);
	}
	table_files_empty(AT_FDCWD, thread->directory);
	return sandbox_start(&thread->fetcher, &options, err);
}

static bool fetch(struct worker_thread *thread, const struct build_id *id, bool is_debug_file,
		  struct build_result *result, int *ret_fd)
{
	struct worker_pool *pool = thread->pool;
	const struct fetch_job job = { .id = *id,
				       .skipped_servers = servers_to_skip(pool),
				       .is_debug_file = is_debug_file };
	uint64_t timeout_ms =
		QUERIES_PER_FILE * pool->generations->servers->count * (FETCH_SECONDS + 5) * 1000;
	enum sandbox_reply reply = SANDBOX_DIED;
	struct fetch_report report;
	int fds[SANDBOX_FDS_MAX];
	struct err err;

	if (!ensure_fetcher(thread, &err))
		return fail_start(result, CRASHED, &err);
	if (sandbox_send(&thread->fetcher, &job, sizeof(job), NULL))
		reply = sandbox_wait(&thread->fetcher, timeout_ms, pool->options.cancel, &report,
				     sizeof(report), fds);
	if (reply != SANDBOX_RESPONDED)
		return fail_exit(thread, &thread->fetcher, id, reply, result);
	note_hung(pool, &report);
	if (report.reason != NAME_KNOWN)
		return fail(result, report.reason, report.why);
	result->is_fallback = report.is_fallback;
	metric_add(&fetched, 1);
	metric_add(&fetched_bytes, report.bytes);
	metric_observe(&fetch_seconds, report.duration_ns);
	*ret_fd = fds[0];
	return true;
}

/* Fetch the file to which dwz moved parts of this file's DWARF, and send it. Without that file
 * names are missing, so the table is a fallback. */
static bool send_alt(struct worker_thread *thread, const struct build_report *report,
		     struct build_result *result)
{
	const char *text = report->alt_id.text;
	struct build_result alt_result;
	struct build_id id;
	struct err err;
	AUTO_FD alt = -1;

	if (!memchr(text, 0, sizeof(report->alt_id.text)) ||
	    !build_id_parse(str_from(text), &id, &err) ||
	    !fetch(thread, &id, true, &alt_result, &alt))
		result->is_fallback = true;

	const int fds[SANDBOX_FDS_MAX] = { alt, -1, -1 };

	return sandbox_send(&thread->builder, &(struct build_job){ 0 }, sizeof(struct build_job),
			    fds);
}

/* Let the builder read the file. A report with a value that no builder sends is invalid. */
static enum sandbox_reply call_builder(struct worker_thread *thread, int fd, int table,
				       struct build_result *result, struct build_report *report)
{
	const int fds[SANDBOX_FDS_MAX] = { fd, table, -1 };
	const struct cancel *cancel = thread->pool->options.cancel;
	uint64_t began_ns = clock_monotonic_ns();
	enum sandbox_reply reply;

	if (!sandbox_send(&thread->builder, &(struct build_job){ 0 }, sizeof(struct build_job),
			  fds))
		return SANDBOX_DIED;
	reply = sandbox_wait(&thread->builder, BUILD_SECONDS * 1000, cancel, report,
			     sizeof(*report), NULL);
	if (reply == SANDBOX_RESPONDED && report->stage == BUILD_NEEDS_ALT) {
		if (!send_alt(thread, report, result))
			return SANDBOX_DIED;
		began_ns = clock_monotonic_ns();
		reply = sandbox_wait(&thread->builder, BUILD_SECONDS * 1000, cancel, report,
				     sizeof(*report), NULL);
	}
	if (reply != SANDBOX_RESPONDED)
		return reply;
	metric_observe(&build_seconds, clock_monotonic_ns() - began_ns);
	return report->stage == BUILD_DONE && report->reason < NAME_REASON_COUNT &&
			       memchr(report->why, 0, sizeof(report->why))
		       ? SANDBOX_RESPONDED
		       : SANDBOX_INVALID;
}

static bool read_file(struct worker_thread *thread, const struct build_id *id, int fd,
		      struct build_result *result)
{
	char uid[24], path[PATH_MAX + sizeof("/table")];
	const char *arguments[] = { uid, NULL };
	const struct sandbox_options options = { .program = BUILD_WORKER_PROGRAM,
						 .arguments = arguments,
						 .cancel = thread->pool->options.cancel };
	struct build_report report;
	struct err err;

	snprintf(uid, sizeof(uid), "%ju", (uintmax_t)thread->pool->options.sandbox_uid);
	snprintf(path, sizeof(path), "%s/table", thread->directory);

	AUTO_FD table = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	if (table < 0) {
		err_errno(&err, "create %s", path);
		return fail_start(result, UNAVAILABLE, &err);
	}
	if (!sandbox_start(&thread->builder, &options, &err))
		return fail_start(result, CRASHED, &err);

	enum sandbox_reply reply = call_builder(thread, fd, table, result, &report);

	if (reply != SANDBOX_RESPONDED)
		return fail_exit(thread, &thread->builder, id, reply, result);
	sandbox_stop(&thread->builder, reply);
	return report.reason == NAME_KNOWN || fail(result, report.reason, report.why);
}

/* Let the child processes fetch and read one file. */
static void run_job(struct worker_thread *thread, const struct build_id *id,
		    struct build_result *result)
{
	AUTO_FD fd = -1;

	*result = (struct build_result){ .reason = NAME_PENDING };
	if (cancel_requested(thread->pool->options.cancel))
		return;
	if (fetch(thread, id, false, result, &fd) && read_file(thread, id, fd, result)) {
		result->reason = NAME_KNOWN;
		result->outcome = BUILT;
	}
	if (result->reason == NAME_PENDING)
		return;
	metric_add_at(&builds, result->outcome, 1);
	if (result->reason != NAME_KNOWN && result->reason != NAME_NO_DEBUG_INFO)
		log_warn("no table", "build_id=%s reason=%s error=\"%s\"", id->text,
			 name_reason_names[result->reason], result->why);
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
	struct build_result built;
	struct err err = { 0 };

	for (int i = 0; i < ATTEMPTS_MAX; i++) {
		uint64_t before = generations_refresh(pool->generations, id), after;

		run_job(thread, id, &built);
		after = generations_refresh(pool->generations, id);
		result.reason = built.reason;
		result.generation = after == GENERATION_UNKNOWN ? 0 : after;
		result.is_fallback = built.is_fallback;
		result.ttl_ns = negative_ttl_ns(pool, built.reason);
		if (built.reason == NAME_PENDING || before == after || before == GENERATION_UNKNOWN)
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
	liveness_begin("build");
	while (!queue_is_closed(&pool->queue) || queue_len(&pool->queue)) {
		if (!queue_pop(&pool->queue, &item, POP_MS))
			continue;
		metric_set(&waiting, (int64_t)queue_len(&pool->queue));
		build_table(&thread, item);
		free(item);
	}
	sandbox_stop(&thread.fetcher, SANDBOX_RESPONDED);
	liveness_end();
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
		pthread_setname_np(pool->threads[pool->thread_count], "build");
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
