// SPDX-License-Identifier: Apache-2.0
#include "crew.h"

#include "base/clock.h"
#include "base/log.h"
#include "chassis/metrics.h"
#include "symbolizer_limits.h"
#include "table_files.h"
#include "worker.h"

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
	CHANGED_MEANWHILE_MAX = 3,
	FETCHES_OF_ONE = 3 /* debuginfo, executable, dwz's */
};

enum outcome { BUILT, ABSENT, UNAVAILABLE, MALFORMED, TOO_LARGE, CRASHED, LATE, OUTRUN, OUTCOMES };
static const char *const outcome_names[OUTCOMES] = {
	[BUILT] = "built",         [ABSENT] = "absent",       [UNAVAILABLE] = "unavailable",
	[MALFORMED] = "malformed", [TOO_LARGE] = "too_large", [CRASHED] = "crashed",
	[LATE] = "late",           [OUTRUN] = "outrun",
};

static struct metric works = {
	.name = "decima_symbolizer_works_total",
	.kind = METRIC_COUNTER,
	.help = "Debug files that were sought and read, by what became of them. Crashed and late "
		"are workers that died of a file or took too long; outrun, files that were "
		"replaced while they were fetched.",
	.label = "outcome",
	.values = outcome_names,
	.value_count = OUTCOMES
};
static struct metric fetched = { .name = "decima_symbolizer_fetched_files_total",
				 .kind = METRIC_COUNTER,
				 .help = "Files that came from debuginfod servers." };
static struct metric fetched_bytes = { .name = "decima_symbolizer_fetched_bytes_total",
				       .kind = METRIC_COUNTER,
				       .help = "Their bytes." };
static struct metric fetch_seconds = { .name = "decima_symbolizer_fetch_duration_seconds",
				       .kind = METRIC_HISTOGRAM,
				       .help = "Time to fetch one of them.",
				       METRIC_IN_SECONDS };
static struct metric build_seconds = { .name = "decima_symbolizer_build_duration_seconds",
				       .kind = METRIC_HISTOGRAM,
				       .help = "Time to make a table of one of them.",
				       METRIC_IN_SECONDS };
static struct metric waiting = { .name = "decima_symbolizer_waiting_files",
				 .kind = METRIC_GAUGE,
				 .help = "Files that wait for a worker." };
struct metric *const crew_metrics[CREW_METRICS] = { &works,         &fetched,       &fetched_bytes,
						    &fetch_seconds, &build_seconds, &waiting };

static const enum outcome outcome_of[NAME_REASON_COUNT] = {
	[NAME_KNOWN] = BUILT,
	[NAME_NO_DEBUG_INFO] = ABSENT,
	[NAME_UNAVAILABLE] = UNAVAILABLE,
	[NAME_MALFORMED] = MALFORMED,
	[NAME_TOO_LARGE] = TOO_LARGE,
};

/* A thread of the crew, and its worker. */
struct member {
	struct crew *crew;
	struct worker worker;
	char directory[PATH_MAX]; /* of the worker */
	char table[32];           /* what it builds, below the tables' */
};

int worker_end(struct worker *worker)
{
	int status = 0;

	if (!worker->pid)
		return 0;
	if (waitpid(worker->pid, &status, WNOHANG) != worker->pid) {
		kill(worker->pid, SIGKILL);
		while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
		}
		status = 0;
	}
	close(worker->socket);
	*worker = (struct worker){ 0 };
	return status;
}

/* Wait for what it says next. False: it died, took too long, or we are stopping. */
static bool hear(const struct member *member, uint64_t deadline_ns, struct work_report *said,
		 bool *ret_late)
{
	const struct stop *stop = member->crew->options.stop;
	struct pollfd fds[2] = { { .fd = member->worker.socket, .events = POLLIN },
				 { .fd = stop->fd, .events = POLLIN } };

	*ret_late = false;
	while (!stop_is_asked(stop)) {
		uint64_t now_ns = clock_monotonic_ns();

		if (now_ns >= deadline_ns) {
			*ret_late = true;
			return false;
		}
		if (poll(fds, 2, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) > 0 &&
		    fds[0].revents)
			return recv(member->worker.socket, said, sizeof(*said), 0) ==
			       (ssize_t)sizeof(*said);
	}
	return false;
}

/* Its own process ended of it: the file's fault once it has come, else nobody's. */
static void blame(struct member *member, const struct build_id *id, bool is_late, bool has_come,
		  struct work_report *said)
{
	bool is_stopping = stop_is_asked(member->crew->options.stop);
	int status = 0;

	if (!is_late && !is_stopping)
		clock_sleep_ms(10); /* its end is heard before it is over */
	status = worker_end(&member->worker);
	is_late |= WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
	*said = (struct work_report){ .stage = WORK_DONE, .reason = NAME_UNAVAILABLE };
	if (is_stopping) {
		said->reason = NAME_PENDING;
		return;
	}
	if (has_come)
		said->reason = is_late ? NAME_TOO_LARGE : NAME_MALFORMED;
	metric_add_at(&works, is_late ? LATE : CRASHED, 1);
	log_warn("worker ended", "build_id=%s while=%s late=%s signal=%d", id->text,
		 has_come ? "reading" : "fetching", is_late ? "yes" : "no",
		 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static uint32_t left_alone(const struct crew *crew)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint32_t servers = 0;

	for (size_t i = 0; i < crew->generations->servers->count; i++)
		servers |= (uint32_t)(now_ns < crew->alone_until_ns[i]) << i;
	return servers;
}

static void note_hung(struct crew *crew, const struct work_report *said)
{
	uint64_t until_ns = clock_monotonic_ns() + HUNG_ALONE_SECONDS * NS_PER_SECOND;

	for (size_t i = 0; i < crew->generations->servers->count; i++)
		if (said->hung >> i & 1)
			crew->alone_until_ns[i] = until_ns;
}

/* An idle one has nothing to say, but that it is gone: its end of the socket is closed. */
static bool has_worker(struct member *member, struct err *err)
{
	struct pollfd fd = { .fd = member->worker.socket, .events = POLLIN };

	if (member->worker.pid && poll(&fd, 1, 0) > 0)
		worker_end(&member->worker);
	if (member->worker.pid)
		return true;
	table_files_empty(AT_FDCWD, member->directory);
	return worker_start(&member->worker, member->directory, member->crew->options.servers, err);
}

/* One file by the worker. */
static void work(struct member *member, const struct build_id *id, struct work_report *said)
{
	uint64_t servers = member->crew->generations->servers->count;
	uint64_t fetch_ns = FETCHES_OF_ONE * servers * (FETCH_SECONDS + 5) * NS_PER_SECOND;
	struct work_order order = { .id = *id, .left_alone = left_alone(member->crew) };
	bool is_late = false, has_come = false;
	struct err err = { 0 };

	*said = (struct work_report){ .stage = WORK_DONE, .reason = NAME_PENDING };
	if (stop_is_asked(member->crew->options.stop))
		return;
	if (!has_worker(member, &err)) {
		log_error("no worker", "error=\"%s\"", err.msg);
		said->reason = NAME_UNAVAILABLE;
		return;
	}
	if (send(member->worker.socket, &order, sizeof(order), MSG_NOSIGNAL) < 0 ||
	    !hear(member, clock_monotonic_ns() + fetch_ns, said, &is_late)) {
		blame(member, id, is_late, false, said);
		return;
	}
	note_hung(member->crew, said);
	if (said->stage == WORK_FETCHED) {
		has_come = true;
		metric_add(&fetched, 1);
		metric_add(&fetched_bytes, said->bytes);
		metric_observe(&fetch_seconds, said->took_ns);
		if (!hear(member, clock_monotonic_ns() + BUILD_SECONDS * NS_PER_SECOND, said,
			  &is_late)) {
			blame(member, id, is_late, true, said);
			return;
		}
		metric_observe(&build_seconds, said->took_ns);
	}
	if (has_come)
		worker_end(&member->worker);
	metric_add_at(&works, outcome_of[said->reason], 1);
	if (said->reason != NAME_KNOWN && said->reason != NAME_NO_DEBUG_INFO)
		log_warn("no table", "build_id=%s reason=%s error=\"%s\"", id->text,
			 name_reason_names[said->reason], said->why);
}

/* How long it holds that there is no table. */
static uint64_t holds_ns(const struct crew *crew, enum name_reason reason)
{
	uint64_t seconds = FAILED_SECONDS;

	if (reason == NAME_NO_DEBUG_INFO)
		seconds = generations_has_foreign(crew->generations) ? ABSENT_FOREIGN_SECONDS
								     : ABSENT_SECONDS;
	if (reason == NAME_MALFORMED || reason == NAME_TOO_LARGE)
		seconds = UNREADABLE_SECONDS;
	return seconds * NS_PER_SECOND;
}

static void seek(struct member *member, const struct build_id *id)
{
	struct crew *crew = member->crew;
	struct table_result result = { .reason = NAME_PENDING, .file = member->table };
	struct work_report said;
	struct err err = { 0 };

	for (int i = 0; i < CHANGED_MEANWHILE_MAX; i++) {
		uint64_t before = generations_ask(crew->generations, id), after;

		work(member, id, &said);
		after = generations_ask(crew->generations, id);
		result.reason = said.reason;
		result.generation = after == GENERATION_UNKNOWN ? 0 : after;
		result.is_second_best = said.is_second_best;
		result.holds_ns = holds_ns(crew, said.reason);
		if (said.reason == NAME_PENDING || before == after || before == GENERATION_UNKNOWN)
			break;
		metric_add_at(&works, OUTRUN, 1);
		result.reason = NAME_PENDING;
	}
	if (!tables_finish(crew->tables, id, &result, &err))
		log_error("table not kept", "build_id=%s error=\"%s\"", id->text, err.msg);
	else if (result.reason == NAME_KNOWN)
		log_info("table built", "build_id=%s generation=%ju of=%s", id->text,
			 (uintmax_t)result.generation,
			 result.is_second_best ? "executable" : "debuginfo");
}

static void *be_member(void *self)
{
	struct member member = { .crew = self };
	struct crew *crew = self;
	unsigned int number = crew->next_number++;
	void *item;

	snprintf(member.table, sizeof(member.table), "work/%u/table", number);
	snprintf(member.directory, sizeof(member.directory), "%s/work/%u", crew->options.directory,
		 number);
	if (mkdir(member.directory, 0750) && errno != EEXIST)
		log_error("no directory for a worker", "directory=%s", member.directory);
	while (!queue_is_closed(&crew->queue) || queue_len(&crew->queue)) {
		if (!queue_pop(&crew->queue, &item, POP_MS))
			continue;
		metric_set(&waiting, (int64_t)queue_len(&crew->queue));
		seek(&member, item);
		free(item);
	}
	worker_end(&member.worker);
	return NULL;
}

bool crew_start(struct crew *crew, const struct crew_options *options, struct tables *tables,
		struct generations *generations, struct err *err)
{
	*crew = (struct crew){ .options = *options, .tables = tables, .generations = generations };
	_Static_assert(WORKERS <= ARRAY_LEN(crew->threads), "a thread for each worker");
	queue_init(&crew->queue, WORK_QUEUE_MAX);
	for (; crew->thread_count < WORKERS; crew->thread_count++) {
		errno = pthread_create(&crew->threads[crew->thread_count], NULL, be_member, crew);
		if (errno) {
			err_errno(err, "start a thread");
			crew_stop(crew);
			return false;
		}
	}
	return true;
}

void crew_stop(struct crew *crew)
{
	if (!crew->tables)
		return;
	queue_close(&crew->queue);
	for (unsigned int i = 0; i < crew->thread_count; i++)
		pthread_join(crew->threads[i], NULL);
	queue_done(&crew->queue);
	crew->tables = NULL;
}

bool crew_put(struct crew *crew, const struct build_id *id)
{
	struct table_result nothing = { .reason = NAME_PENDING };
	struct build_id *item = malloc(sizeof(*item));
	struct err err;

	if (!item)
		abort(); /* out of memory, as an arena would */
	*item = *id;
	if (queue_push(&crew->queue, item)) {
		metric_set(&waiting, (int64_t)queue_len(&crew->queue));
		return true;
	}
	free(item);
	(void)!tables_finish(crew->tables, id, &nothing, &err);
	return false;
}
