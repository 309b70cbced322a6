// SPDX-License-Identifier: Apache-2.0
/*
 * The files that wait: offered by the sampling thread, taken and let go by the uploading one. And
 * the numbers of all of it.
 */
#include "agent_limits.h"
#include "base/clock.h"
#include "base/log.h"
#include "heap.h"
#include "upload_job.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <sys/stat.h>

static const char *const outcome_names[UPLOAD_OUTCOME_COUNT] = {
	[UPLOAD_STORED] = "stored",
	[UPLOAD_HAVE_IT] = "have_it",
	[UPLOAD_NOTHING] = "nothing",
	[UPLOAD_NO_BUILD_ID] = "no_build_id",
	[UPLOAD_MALFORMED] = "malformed",
	[UPLOAD_TOO_LARGE] = "too_large",
	[UPLOAD_REFUSED] = "refused",
	[UPLOAD_CRASHED] = "crashed",
	[UPLOAD_GAVE_UP] = "gave_up",
	[UPLOAD_DISK_FULL] = "disk_full",
	[UPLOAD_IN_PROGRESS] = "in_progress",
	[UPLOAD_BUSY] = "busy",
	[UPLOAD_UNAUTHORIZED] = "unauthorized",
	[UPLOAD_UNREACHABLE] = "unreachable",
	[UPLOAD_BROKEN_OFF] = "broken_off",
	[UPLOAD_TIMED_OUT] = "timed_out",
};

static struct metric uploads = {
	.name = "decima_agent_debuginfo_uploads_total",
	.kind = METRIC_COUNTER,
	.help = "Files whose debug info was offered, by what became of them in the end.",
	.label = "outcome",
	.values = outcome_names,
	.value_count = UPLOAD_FINAL_COUNT
};
static struct metric retries = { .name = "decima_agent_debuginfo_retries_total",
				 .kind = METRIC_COUNTER,
				 .help = "Uploads that are tried again later, by what happened.",
				 .label = "outcome",
				 .values = outcome_names + UPLOAD_FINAL_COUNT,
				 .value_count = UPLOAD_OUTCOME_COUNT - UPLOAD_FINAL_COUNT };
static struct metric postponed = {
	.name = "decima_agent_debuginfo_postponed_total",
	.kind = METRIC_COUNTER,
	.help = "Times that there was no room for a file; it is offered again when it is mapped "
		"again, or when there is room for half of all."
};
static struct metric sent = { .name = "decima_agent_debuginfo_bytes_total",
			      .kind = METRIC_COUNTER,
			      .help = "Bytes of debug info that were sent." };
static struct metric waiting = { .name = "decima_agent_debuginfo_waiting",
				 .kind = METRIC_GAUGE,
				 .help = "Files that are kept open until it is decided what "
					 "becomes of their debug info." };
static struct metric deleted = { .name = "decima_agent_debuginfo_deleted_bytes",
				 .kind = METRIC_GAUGE,
				 .help = "Disk space of those among them that were deleted." };
static struct metric worker_cpu = { .name = "decima_agent_debuginfo_cpu_seconds_total",
				    .kind = METRIC_COUNTER,
				    .help = "CPU time of the uploader processes that have ended.",
				    .unit = NS_PER_SECOND };
static struct metric worker_peak = { .name = "decima_agent_debuginfo_peak_bytes",
				     .kind = METRIC_GAUGE,
				     .help = "Most memory that one of them used." };
static struct metric worker_starts = { .name = "decima_agent_debuginfo_starts_total",
				       .kind = METRIC_COUNTER,
				       .help = "Uploader processes that were started." };

struct metric *const upload_metrics[] = { &uploads,    &retries,     &postponed,
					  &sent,       &waiting,     &deleted,
					  &worker_cpu, &worker_peak, &worker_starts };
const size_t upload_metric_count = ARRAY_LEN(upload_metrics);

void upload_count(enum upload_outcome outcome)
{
	if (outcome < UPLOAD_FINAL_COUNT)
		metric_add_at(&uploads, outcome, 1);
	else
		metric_add_at(&retries, outcome - UPLOAD_FINAL_COUNT, 1);
}

void upload_count_sent(uint64_t bytes)
{
	metric_add(&sent, bytes);
}

void upload_job_close(struct upload *upload, struct upload_job *job)
{
	close(job->fds[0]);
	if (job->fds[1] >= 0)
		close(job->fds[1]);
	free(job);
	atomic_fetch_sub(&upload->held, 1);
}

/*
 * A root that is not our own: a container's, a chroot's. -1: it is ours, or nobody who knows it is
 * there any more. Who is gone most likely lived where its parent does.
 */
static int open_root(const uint32_t pids[2])
{
	struct stat own, its;
	char path[32];

	for (size_t i = 0; i < 2; i++) {
		if (!pids[i])
			continue;
		snprintf(path, sizeof(path), "/proc/%u/root/", pids[i]);
		if (stat(path, &its) != 0)
			continue;
		if (stat("/", &own) == 0 && own.st_dev == its.st_dev && own.st_ino == its.st_ino)
			return -1;
		return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	return -1;
}

bool upload_has_room(const struct upload *upload)
{
	if (!upload->running)
		return false;
	if (upload->held < UPLOADS_HELD_MAX)
		return true;
	metric_add(&postponed, 1);
	return false;
}

bool upload_has_plenty(const struct upload *upload)
{
	return upload->running && upload->held < UPLOADS_HELD_MAX / 2;
}

bool upload_offer(struct upload *upload, const struct upload_file *file, int fd)
{
	if (!upload_has_room(upload))
		return false;
	atomic_fetch_add(&upload->held, 1); /* by one thread alone: the sampling one */

	str path = { file->path.ptr, file->path.len < PATH_MAX ? file->path.len : PATH_MAX - 1 };
	struct upload_job *job = heap_new(sizeof(*job), path.len + 1);

	snprintf(job->build_id, sizeof(job->build_id), "%s", file->build_id);
	memcpy(job->path, path.ptr, path.len);
	job->fds[0] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	job->fds[1] = open_root(file->pids);
	if (job->fds[0] >= 0 && queue_push(&upload->offered, job))
		return true;
	upload_job_close(upload, job);
	return false;
}

void upload_append(struct upload *upload, struct upload_job *job)
{
	job->next = NULL;
	*upload->end = job;
	upload->end = &job->next;
}

struct upload_job *upload_unlink(struct upload *upload, struct upload_job **at)
{
	struct upload_job *job = *at;

	*at = job->next;
	if (upload->end == &job->next)
		upload->end = at;
	return job;
}

void upload_tell(const struct upload_job *job, const struct upload_answer_message *answer,
		 enum upload_outcome outcome)
{
	static const bool is_usual[UPLOAD_OUTCOME_COUNT] = {
		[UPLOAD_STORED] = true,      [UPLOAD_HAVE_IT] = true, [UPLOAD_NOTHING] = true,
		[UPLOAD_NO_BUILD_ID] = true, [UPLOAD_BUSY] = true,    [UPLOAD_IN_PROGRESS] = true,
	};

	log_write(is_usual[outcome] ? LOG_DEBUG : LOG_WARN, "debug info offered",
		  "build_id=%s outcome=%s path=\"%s\" rank=%s bytes=%" PRIu64 " why=\"%s\"",
		  job->build_id, outcome_names[outcome], job->path, answer->rank, answer->bytes,
		  answer->sentence);
}

void upload_give_up(struct upload *upload, struct upload_job *job, enum upload_outcome outcome)
{
	const struct upload_answer_message nothing = { .bytes = 0 };

	upload_tell(job, &nothing, outcome);
	upload_count(outcome);
	upload_job_close(upload, job);
}

/* What was deleted and is kept open takes room that nobody can see. */
static void bound_deleted(struct upload *upload)
{
	uint64_t sum = 0;

	for (struct upload_job **at = &upload->first; *at;) {
		struct stat stat;
		bool is_gone = fstat((*at)->fds[0], &stat) == 0 && stat.st_nlink == 0;
		uint64_t bytes = is_gone ? (uint64_t)stat.st_blocks * 512 : 0;

		if (bytes && sum + bytes > upload->options.held_max_bytes) {
			upload_give_up(upload, upload_unlink(upload, at), UPLOAD_DISK_FULL);
			continue;
		}
		sum += bytes;
		at = &(*at)->next;
	}
	metric_set(&deleted, (int64_t)sum);
	upload->looked_ns = clock_monotonic_ns();
}

void upload_take_offers(struct upload *upload, uint64_t wait_ms)
{
	void *item;

	while (queue_pop(&upload->offered, &item, wait_ms)) {
		upload_append(upload, item);
		wait_ms = 0;
	}
}

void upload_measure(const struct upload *upload)
{
	metric_set(&waiting, (int64_t)upload->held);
	metric_set(&worker_cpu, (int64_t)upload->worker.cpu_ns);
	metric_set(&worker_peak, (int64_t)upload->worker.peak_bytes);
	metric_set(&worker_starts, (int64_t)upload->worker.started);
}

void upload_look(struct upload *upload)
{
	upload_measure(upload);
	if (clock_monotonic_ns() - upload->looked_ns >= UPLOAD_LOOK_MS * NS_PER_MS)
		bound_deleted(upload);
}
