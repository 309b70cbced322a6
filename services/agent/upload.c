#include "upload.h"

#include "agent_limits.h"
#include "base/clock.h"
#include "base/log.h"
#include "heap.h"
#include "pace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct upload_job {
	char build_id[BUILD_ID_TEXT_MAX];
	bool is_done[UPLOAD_PART_COUNT];
	int fds[2]; /* the file, its process's root; -1: ours */
	unsigned int tries;
	uint64_t due_ns;
	struct upload_job *next;
	char path[];
};

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

static uint64_t now(void)
{
	return clock_monotonic_ns();
}

static void job_close(struct upload *upload, struct upload_job *job)
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
	job_close(upload, job);
	return false;
}

static void append(struct upload *upload, struct upload_job *job)
{
	job->next = NULL;
	*upload->end = job;
	upload->end = &job->next;
}

static struct upload_job *unlink_job(struct upload *upload, struct upload_job **at)
{
	struct upload_job *job = *at;

	*at = job->next;
	if (upload->end == &job->next)
		upload->end = at;
	return job;
}

static void tell(const struct upload_job *job, const struct upload_answer_message *answer,
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

/* The end of a job that the uploader did not decide. */
static void give_up(struct upload *upload, struct upload_job *job, enum upload_outcome outcome)
{
	const struct upload_answer_message nothing = { .bytes = 0 };

	tell(job, &nothing, outcome);
	metric_add_at(&uploads, outcome, 1);
	job_close(upload, job);
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
			give_up(upload, unlink_job(upload, at), UPLOAD_DISK_FULL);
			continue;
		}
		sum += bytes;
		at = &(*at)->next;
	}
	metric_set(&deleted, (int64_t)sum);
	upload->looked_ns = now();
}

static void take_offers(struct upload *upload, uint64_t wait_ms)
{
	void *item;

	while (queue_pop(&upload->offered, &item, wait_ms)) {
		append(upload, item);
		wait_ms = 0;
	}
}

static void measure(const struct upload *upload)
{
	metric_set(&waiting, (int64_t)upload->held);
	metric_set(&worker_cpu, (int64_t)upload->worker.cpu_ns);
	metric_set(&worker_peak, (int64_t)upload->worker.peak_bytes);
	metric_set(&worker_starts, (int64_t)upload->worker.started);
}

/* Now and then, whatever else is done. */
static void look(struct upload *upload)
{
	measure(upload);
	if (now() - upload->looked_ns >= UPLOAD_LOOK_MS * NS_PER_MS)
		bound_deleted(upload);
}

static void pause_longer(struct upload *upload)
{
	uint64_t ms = upload->pause_ms ? upload->pause_ms * 2 : UPLOAD_PAUSE_FIRST_MS;

	upload->pause_ms = ms < UPLOAD_PAUSE_MAX_MS ? ms : UPLOAD_PAUSE_MAX_MS;
	upload->pause_until_ns = now() + pace_jitter(upload->pause_ms) * NS_PER_MS;
}

/* Hosts that met the same build at the same time do not come back at the same time. */
static uint64_t delay_ms(unsigned int tries, uint64_t retry_after_s)
{
	uint64_t ms = (uint64_t)UPLOAD_RETRY_FIRST_MS << (tries < 16 ? tries : 16);
	uint64_t told_ms = retry_after_s < UPLOAD_RETRY_MAX_MS / 1000 ? retry_after_s * 1000
								      : UPLOAD_RETRY_MAX_MS;

	if (ms > UPLOAD_RETRY_MAX_MS)
		ms = UPLOAD_RETRY_MAX_MS;
	if (ms < told_ms)
		ms = told_ms;
	return ms + pace_jitter(ms) / 2;
}

static void try_again(struct upload *upload, struct upload_job *job, enum upload_outcome trouble,
		      uint64_t retry_after_s)
{
	metric_add_at(&retries, trouble - UPLOAD_FINAL_COUNT, 1);
	if (trouble == UPLOAD_UNREACHABLE) {
		pause_longer(upload);
	} else if (++job->tries < UPLOAD_TRIES_MAX) {
		job->due_ns = now() + delay_ms(job->tries - 1, retry_after_s) * NS_PER_MS;
	} else {
		give_up(upload, job, UPLOAD_GAVE_UP);
		return;
	}
	append(upload, job);
}

/* Each part is counted when it is decided; the job is done when both are. */
static void take_answer(struct upload *upload, struct upload_job *job,
			const struct upload_answer_message *answer)
{
	enum upload_outcome trouble = UPLOAD_OUTCOME_COUNT;

	metric_add(&sent, answer->bytes);
	for (size_t i = 0; i < UPLOAD_PART_COUNT; i++) {
		enum upload_outcome outcome = answer->outcomes[i];

		if (outcome == UPLOAD_OUTCOME_COUNT)
			continue;
		tell(job, answer, outcome);
		if (outcome >= UPLOAD_FINAL_COUNT) {
			trouble = outcome;
			continue;
		}
		metric_add_at(&uploads, outcome, 1);
		job->is_done[i] = true;
	}
	if (trouble != UPLOAD_UNREACHABLE)
		upload->pause_ms = 0;
	if (trouble != UPLOAD_OUTCOME_COUNT)
		try_again(upload, job, trouble, answer->retry_after_s);
	else
		job_close(upload, job);
}

static bool ensure_worker(struct upload *upload)
{
	const struct upload_worker_options options = { .url = upload->options.url,
						       .token_file = upload->options.token_file,
						       .timeout_ms = upload->options.timeout_ns /
								     NS_PER_MS };
	struct err err;

	if (upload->worker.pid || upload_worker_start(&upload->worker, &options, &err))
		return true;
	log_error("no uploader: no debug info goes out", "error=\"%s\"", err.msg);
	pause_longer(upload);
	return false;
}

/* While it works others are offered, and their files deleted. */
static enum upload_reply ask_worker(struct upload *upload, const struct upload_job *job,
				    struct upload_answer_message *answer)
{
	uint64_t end_ns = now() + upload->options.timeout_ns + UPLOAD_GRACE_MS * NS_PER_MS;
	struct upload_job_message message = { .is_done = { job->is_done[UPLOAD_PART_OWN],
							   job->is_done[UPLOAD_PART_COMMON] } };
	enum upload_reply reply = UPLOAD_WORKER_DIED;

	snprintf(message.build_id, sizeof(message.build_id), "%s", job->build_id);
	snprintf(message.path, sizeof(message.path), "%s", job->path);
	if (!upload_worker_hand(&upload->worker, &message, job->fds))
		return reply;
	do {
		reply = upload_worker_wait(&upload->worker, UPLOAD_LOOK_MS, &upload->stop, answer);
		take_offers(upload, 0);
		look(upload);
	} while (reply == UPLOAD_NOT_YET && now() < end_ns);
	return reply;
}

static void run_job(struct upload *upload, struct upload_job *job)
{
	struct upload_answer_message answer = { .retry_after_s = 0 };
	enum upload_reply reply = ask_worker(upload, job, &answer);

	if (reply != UPLOAD_ANSWERED)
		upload_worker_end(&upload->worker);
	switch (reply) {
	case UPLOAD_ANSWERED:
		take_answer(upload, job, &answer);
		break;
	case UPLOAD_WORKER_DIED:
		give_up(upload, job, UPLOAD_CRASHED);
		break;
	case UPLOAD_NOT_YET:
		tell(job, &answer, UPLOAD_TIMED_OUT);
		job->tries += UPLOAD_TRIES_MAX / 2; /* it kept all others waiting */
		try_again(upload, job, UPLOAD_TIMED_OUT, 0);
		break;
	case UPLOAD_STOPPED:
	case UPLOAD_REPLY_COUNT:
		append(upload, job);
		break;
	}
	upload->used_ns = now();
}

/* The next one whose time has come; NULL: then how long nothing need be done goes to ret_wait. */
static struct upload_job *next_job(struct upload *upload, uint64_t *ret_wait_ms)
{
	uint64_t now_ns = now(), first_ns = UINT64_MAX;

	for (struct upload_job **at = &upload->first; *at; at = &(*at)->next) {
		uint64_t due_ns = (*at)->due_ns > upload->pause_until_ns ? (*at)->due_ns
									 : upload->pause_until_ns;

		if (due_ns <= now_ns)
			return unlink_job(upload, at);
		if (due_ns < first_ns)
			first_ns = due_ns;
	}

	uint64_t wait_ms = UPLOAD_LOOK_MS;

	if (first_ns != UINT64_MAX && (first_ns - now_ns) / NS_PER_MS < wait_ms)
		wait_ms = (first_ns - now_ns) / NS_PER_MS + 1;
	*ret_wait_ms = wait_ms;
	return NULL;
}

static void rest(struct upload *upload, uint64_t wait_ms)
{
	if (upload->worker.pid && now() - upload->used_ns >= UPLOADER_IDLE_MS * NS_PER_MS)
		upload_worker_end(&upload->worker);
	measure(upload);
	/* With nothing to do there is nothing to look at. */
	if (!upload->first && !upload->worker.pid)
		wait_ms = UPLOAD_IDLE_MS;
	take_offers(upload, wait_ms);
}

static void *upload_run(void *self)
{
	struct upload *upload = self;
	uint64_t wait_ms;

	while (!stop_is_asked(&upload->stop)) {
		struct upload_job *job;

		take_offers(upload, 0);
		look(upload);
		job = next_job(upload, &wait_ms);
		if (job && ensure_worker(upload))
			run_job(upload, job);
		else if (job)
			append(upload, job);
		else
			rest(upload, wait_ms);
	}
	upload_worker_end(&upload->worker);
	measure(upload);
	return NULL;
}

/* What waits holds descriptors beside those that sampling needs. */
static void raise_descriptors(void)
{
	struct rlimit limit;
	rlim_t wanted = UPLOAD_DESCRIPTORS;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < wanted)
		log_warn("few descriptors", "allowed=%ju wanted=%d", (uintmax_t)limit.rlim_cur,
			 UPLOAD_DESCRIPTORS);
}

bool upload_start(struct upload *upload, const struct upload_options *options, struct err *err)
{
	sigset_t all, before;

	*upload = (struct upload){ .options = *options, .stop = { .fd = -1 } };
	upload->end = &upload->first;
	if (!*options->url)
		return true;
	if (!str_starts_with(str_from(options->url), STR("http://")) &&
	    !str_starts_with(str_from(options->url), STR("https://")))
		return err_set(err, ERR_INVALID,
			       "--debuginfo-url \"%s\" is no http:// or https:// address",
			       options->url);
	if (!stop_open(&upload->stop, err))
		return false;
	raise_descriptors();
	queue_init(&upload->offered, UPLOADS_HELD_MAX);
	upload->running = true;
	sigfillset(&all); /* signals are the main thread's */
	pthread_sigmask(SIG_SETMASK, &all, &before);

	bool started = pthread_create(&upload->thread, NULL, upload_run, upload) == 0;

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started) {
		pthread_setname_np(upload->thread, "upload");
		return true;
	}
	upload->running = false;
	queue_done(&upload->offered);
	stop_close(&upload->stop);
	return err_set(err, ERR_IO, "start the uploading thread");
}

void upload_stop(struct upload *upload)
{
	if (!upload->running)
		return;
	stop_ask(&upload->stop);
	queue_close(&upload->offered);
	pthread_join(upload->thread, NULL);
	upload->running = false;
	take_offers(upload, 0);
	while (upload->first)
		job_close(upload, unlink_job(upload, &upload->first));
	queue_done(&upload->offered);
	stop_close(&upload->stop);
}
