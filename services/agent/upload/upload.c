// SPDX-License-Identifier: Apache-2.0
#include "agent/upload/upload.h"

#include "agent/agent_limits.h"
#include "agent/process/owner.h"
#include "agent/spool/pace.h"
#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

static const char *const outcome_names[UPLOAD_OUTCOME_COUNT] = {
	[UPLOAD_STORED] = "stored",
	[UPLOAD_HAVE_IT] = "already_stored",
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

#define UPLOAD_METRICS(ROW)                                                                        \
	ROW(uploads, METRIC_COUNTER, "decima_agent_debuginfo_uploads_total",                       \
	    "Files whose debug info was offered, by final outcome.",                               \
	    METRIC_LABEL("outcome", outcome_names, UPLOAD_FINAL_COUNT))                            \
	ROW(retries, METRIC_COUNTER, "decima_agent_debuginfo_retries_total",                       \
	    "Uploads that are retried later, by outcome of the try.",                              \
	    METRIC_LABEL("outcome", outcome_names + UPLOAD_FINAL_COUNT,                            \
			 UPLOAD_OUTCOME_COUNT - UPLOAD_FINAL_COUNT))                               \
	ROW(postponed, METRIC_COUNTER, "decima_agent_debuginfo_postponed_total",                   \
	    "Files that found no place in the queue, because the owner of the process has its "    \
	    "share, by class of the owner; the file is offered again when it is mapped again, or " \
	    "when half of the queue is free.",                                                     \
	    METRIC_LABEL("owner", owner_class_names, OWNER_CLASS_COUNT))                           \
	ROW(sent, METRIC_COUNTER, "decima_agent_debuginfo_bytes_total",                            \
	    "Bytes of debug info sent.")                                                           \
	ROW(waiting, METRIC_GAUGE, "decima_agent_debuginfo_waiting",                               \
	    "Files kept open until their upload is decided.")                                      \
	ROW(deleted, METRIC_GAUGE, "decima_agent_debuginfo_deleted_bytes",                         \
	    "Disk space of waiting files that were deleted meanwhile.")                            \
	ROW(worker_cpu, METRIC_COUNTER, "decima_agent_debuginfo_cpu_seconds_total",                \
	    "CPU time of the uploader processes that have ended.", .unit = NS_PER_SECOND)          \
	ROW(worker_peak, METRIC_GAUGE, "decima_agent_debuginfo_peak_bytes",                        \
	    "Peak memory of an uploader process.")                                                 \
	ROW(worker_starts, METRIC_COUNTER, "decima_agent_debuginfo_starts_total",                  \
	    "Uploader processes started.")

METRICS(upload_metrics, UPLOAD_METRICS);

static void count_outcome(enum upload_outcome outcome)
{
	if (outcome < UPLOAD_FINAL_COUNT)
		metric_add_at(&uploads, outcome, 1);
	else
		metric_add_at(&retries, outcome - UPLOAD_FINAL_COUNT, 1);
}

static void measure(const struct debug_upload *upload)
{
	metric_set(&waiting, (int64_t)upload->queue.count);
	metric_set(&worker_cpu, (int64_t)upload->worker.cpu_ns);
	metric_set(&worker_peak, (int64_t)upload->worker.peak_bytes);
	metric_set(&worker_starts, (int64_t)upload->worker.started);
}

static uint64_t now(void)
{
	return clock_monotonic_ns();
}

static void pause_longer(struct debug_upload *upload)
{
	uint64_t ms = upload->pause_ms ? upload->pause_ms * 2 : UPLOAD_PAUSE_FIRST_MS;

	upload->pause_ms = ms < UPLOAD_PAUSE_MAX_MS ? ms : UPLOAD_PAUSE_MAX_MS;
	upload->pause_until_ns = now() + pace_jitter(upload->pause_ms) * NS_PER_MS;
}

/* With jitter, since many hosts see a new build at the same time. */
static uint64_t delay_ms(unsigned int tries, uint64_t retry_after_s)
{
	uint64_t ms = (uint64_t)UPLOAD_RETRY_FIRST_MS << (tries < 16 ? tries : 16);
	uint64_t asked_ms = retry_after_s < UPLOAD_RETRY_MAX_MS / 1000 ? retry_after_s * 1000
								       : UPLOAD_RETRY_MAX_MS;

	if (ms > UPLOAD_RETRY_MAX_MS)
		ms = UPLOAD_RETRY_MAX_MS;
	if (ms < asked_ms)
		ms = asked_ms;
	return ms + pace_jitter(ms) / 2;
}

static void log_outcome(const struct upload_job *job,
			const struct upload_response_message *response, enum upload_outcome outcome)
{
	static const bool is_usual[UPLOAD_OUTCOME_COUNT] = {
		[UPLOAD_STORED] = true,      [UPLOAD_HAVE_IT] = true, [UPLOAD_NOTHING] = true,
		[UPLOAD_NO_BUILD_ID] = true, [UPLOAD_BUSY] = true,    [UPLOAD_IN_PROGRESS] = true,
	};

	log_write(is_usual[outcome] ? LOG_DEBUG : LOG_WARN, "debug info offered",
		  "build_id=%s outcome=%s path=\"%s\" rank=%s bytes=%" PRIu64 " why=\"%s\"",
		  job->build_id, outcome_names[outcome], job->path, response->rank, response->bytes,
		  response->error);
}

static void give_up(struct debug_upload *upload, struct upload_job *job,
		    enum upload_outcome outcome)
{
	const struct upload_response_message nothing = { .bytes = 0 };

	log_outcome(job, &nothing, outcome);
	count_outcome(outcome);
	upload_job_close(&upload->queue, job);
}

static void retry(struct debug_upload *upload, struct upload_job *job,
		  enum upload_outcome retry_reason, uint64_t retry_after_s)
{
	count_outcome(retry_reason);
	if (retry_reason == UPLOAD_UNREACHABLE) {
		pause_longer(upload);
	} else if (++job->tries < UPLOAD_TRIES_MAX) {
		job->due_ns = now() + delay_ms(job->tries - 1, retry_after_s) * NS_PER_MS;
	} else {
		give_up(upload, job, UPLOAD_GAVE_UP);
		return;
	}
	upload_queue_append(&upload->queue, job);
}

/* Each part is counted when its outcome is final; the job is done when both are. */
static void handle_response(struct debug_upload *upload, struct upload_job *job,
			    const struct upload_response_message *response)
{
	enum upload_outcome retry_reason = UPLOAD_OUTCOME_COUNT;

	metric_add(&sent, response->bytes);
	for (size_t i = 0; i < UPLOAD_PART_COUNT; i++) {
		enum upload_outcome outcome = response->outcomes[i];

		if (outcome == UPLOAD_OUTCOME_COUNT)
			continue;
		log_outcome(job, response, outcome);
		if (outcome >= UPLOAD_FINAL_COUNT) {
			retry_reason = outcome;
			continue;
		}
		count_outcome(outcome);
		job->is_done[i] = true;
	}
	if (retry_reason != UPLOAD_UNREACHABLE)
		upload->pause_ms = 0;
	if (retry_reason != UPLOAD_OUTCOME_COUNT)
		retry(upload, job, retry_reason, response->retry_after_s);
	else
		upload_job_close(&upload->queue, job);
}

static bool ensure_worker(struct debug_upload *upload)
{
	char timeout[24], uid[24];
	const char *arguments[UPLOADER_ARGUMENTS] = {
		[UPLOADER_URL - 1] = upload->options.url,
		[UPLOADER_TOKEN_FILE - 1] = upload->options.token_file,
		[UPLOADER_TIMEOUT_MS - 1] = timeout,
		[UPLOADER_SANDBOX_UID - 1] = uid,
	};
	const struct sandbox_options options = { .program = UPLOADER_NAME,
						 .arguments = arguments,
						 .keeps_environment = true,
						 .cancel = &upload->cancel };
	struct err err;

	snprintf(timeout, sizeof(timeout), "%" PRIu64, upload->options.timeout_ns / NS_PER_MS);
	snprintf(uid, sizeof(uid), "%" PRIu64, upload->options.sandbox_uid);
	if (upload->worker.pid || sandbox_start(&upload->worker, &options, &err))
		return true;
	if (err.code != ERR_CANCELLED)
		log_error("uploader not started: no debug info is uploaded", "error=\"%s\"",
			  err.msg);
	pause_longer(upload);
	return false;
}

/* A deleted file that is kept open uses disk space that no directory shows, so it is bounded. */
static void evict_deleted(struct debug_upload *upload)
{
	uint64_t sum = 0;

	for (struct upload_job **at = &upload->queue.first; *at;) {
		struct stat stat;
		bool is_gone = fstat((*at)->fds[0], &stat) == 0 && stat.st_nlink == 0;
		uint64_t bytes = is_gone ? (uint64_t)stat.st_blocks * 512 : 0;

		if (bytes && sum + bytes > upload->options.deleted_max_bytes) {
			give_up(upload, upload_queue_unlink(&upload->queue, at), UPLOAD_DISK_FULL);
			continue;
		}
		sum += bytes;
		at = &(*at)->next;
	}
	metric_set(&deleted, (int64_t)sum);
	upload->checked_ns = clock_monotonic_ns();
}

static void check_deleted(struct debug_upload *upload)
{
	measure(upload);
	if (clock_monotonic_ns() - upload->checked_ns >= UPLOAD_CHECK_MS * NS_PER_MS)
		evict_deleted(upload);
}

static bool is_sound(const struct upload_response_message *response)
{
	bool sound = memchr(response->error, 0, sizeof(response->error)) &&
		     memchr(response->rank, 0, sizeof(response->rank)) &&
		     response->parser_end <= SANDBOX_END_COUNT;

	for (size_t i = 0; i < UPLOAD_PART_COUNT; i++)
		sound = sound && response->outcomes[i] <= UPLOAD_OUTCOME_COUNT;
	return sound;
}

/* Meanwhile other files are offered, and waiting files may be deleted. */
static enum sandbox_reply run_worker(struct debug_upload *upload, const struct upload_job *job,
				     struct upload_response_message *response)
{
	uint64_t end_ns = now() + upload->options.timeout_ns + UPLOAD_GRACE_MS * NS_PER_MS;
	struct upload_job_message message = { .is_trusted = job->is_trusted,
					      .is_done = { job->is_done[UPLOAD_PART_OWN],
							   job->is_done[UPLOAD_PART_COMMON] } };
	const int fds[SANDBOX_FDS_MAX] = { job->fds[0], job->fds[1], -1 };
	enum sandbox_reply reply = SANDBOX_DIED;

	snprintf(message.build_id, sizeof(message.build_id), "%s", job->build_id);
	snprintf(message.path, sizeof(message.path), "%s", job->path);
	if (!sandbox_send(&upload->worker, &message, sizeof(message), fds))
		return reply;
	do {
		reply = sandbox_wait(&upload->worker, UPLOAD_CHECK_MS, &upload->cancel, response,
				     sizeof(*response), NULL);
		upload_queue_receive(&upload->queue, 0);
		check_deleted(upload);
	} while (reply == SANDBOX_BUSY && now() < end_ns);
	return reply == SANDBOX_RESPONDED && !is_sound(response) ? SANDBOX_INVALID : reply;
}

static void run_job(struct debug_upload *upload, struct upload_job *job)
{
	struct upload_response_message response = { .retry_after_s = 0 };
	enum sandbox_reply reply = run_worker(upload, job, &response);

	if (reply != SANDBOX_RESPONDED)
		sandbox_stop(&upload->worker, reply);
	switch (reply) {
	case SANDBOX_RESPONDED:
		if (response.parser_end < SANDBOX_END_COUNT)
			sandbox_count(response.parser_end);
		handle_response(upload, job, &response);
		break;
	case SANDBOX_DIED:
	case SANDBOX_INVALID:
		give_up(upload, job, UPLOAD_CRASHED);
		break;
	case SANDBOX_BUSY:
		log_outcome(job, &response, UPLOAD_TIMED_OUT);
		job->tries += UPLOAD_TRIES_MAX / 2; /* it delayed all other files */
		retry(upload, job, UPLOAD_TIMED_OUT, 0);
		break;
	case SANDBOX_CANCELLED:
		upload_queue_append(&upload->queue, job);
		break;
	}
	upload->used_ns = now();
}

/* The next job that is due. NULL: no job is due for *ret_wait_ms. */
static struct upload_job *next_job(struct debug_upload *upload, uint64_t *ret_wait_ms)
{
	uint64_t now_ns = now(), first_ns = UINT64_MAX;

	for (struct upload_job **at = &upload->queue.first; *at; at = &(*at)->next) {
		uint64_t due_ns = (*at)->due_ns > upload->pause_until_ns ? (*at)->due_ns
									 : upload->pause_until_ns;

		if (due_ns <= now_ns)
			return upload_queue_unlink(&upload->queue, at);
		if (due_ns < first_ns)
			first_ns = due_ns;
	}

	uint64_t wait_ms = UPLOAD_CHECK_MS;

	if (first_ns != UINT64_MAX && (first_ns - now_ns) / NS_PER_MS < wait_ms)
		wait_ms = (first_ns - now_ns) / NS_PER_MS + 1;
	*ret_wait_ms = wait_ms;
	return NULL;
}

static void wait_idle(struct debug_upload *upload, uint64_t wait_ms)
{
	if (upload->worker.pid && now() - upload->used_ns >= UPLOADER_IDLE_MS * NS_PER_MS)
		sandbox_stop(&upload->worker, SANDBOX_RESPONDED);
	measure(upload);
	/* Without waiting files and without a worker nothing has to be checked. */
	if (!upload->queue.first && !upload->worker.pid)
		wait_ms = UPLOAD_IDLE_MS;
	upload_queue_receive(&upload->queue, wait_ms);
}

static void *upload_run(void *self)
{
	struct debug_upload *upload = self;
	uint64_t wait_ms = 0;

	liveness_begin("upload");
	while (!cancel_requested(&upload->cancel)) {
		struct upload_job *job;

		upload_queue_receive(&upload->queue, 0);
		check_deleted(upload);
		job = next_job(upload, &wait_ms);
		if (job && ensure_worker(upload))
			run_job(upload, job);
		else if (job)
			upload_queue_append(&upload->queue, job);
		else
			wait_idle(upload, wait_ms);
	}
	sandbox_stop(&upload->worker, SANDBOX_RESPONDED);
	measure(upload);
	liveness_end();
	return NULL;
}

bool upload_start(struct debug_upload *upload, const struct debug_upload_options *options,
		  struct err *err)
{
	sigset_t all, before;

	*upload = (struct debug_upload){ .options = *options, .cancel = { .fd = -1 } };
	if (!*options->url)
		return true;
	if (!str_starts_with(str_from(options->url), STR("http://")) &&
	    !str_starts_with(str_from(options->url), STR("https://")))
		return err_set(err, ERR_INVALID,
			       "--debuginfo-url \"%s\" is not an http:// or https:// URL",
			       options->url);
	if (!cancel_open(&upload->cancel, err))
		return false;
	upload_queue_init(&upload->queue);
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
	upload_queue_done(&upload->queue);
	cancel_close(&upload->cancel);
	return err_set(err, ERR_IO, "start the uploading thread");
}

bool upload_has_room(struct debug_upload *upload, struct share_owner owner)
{
	if (!upload->running)
		return false;
	if (upload_queue_has_room(&upload->queue, owner))
		return true;
	metric_add_at(&postponed, owner.class_of, 1);
	return false;
}

bool upload_has_plenty(const struct debug_upload *upload)
{
	return upload->running && upload->queue.count < UPLOADS_WAITING_MAX / 2;
}

bool upload_offer(struct debug_upload *upload, const struct upload_file *file)
{
	return upload_has_room(upload, file->owner) && upload_queue_offer(&upload->queue, file);
}

void upload_stop(struct debug_upload *upload)
{
	if (!upload->running)
		return;
	cancel_request(&upload->cancel);
	upload_queue_close(&upload->queue);
	pthread_join(upload->thread, NULL);
	upload->running = false;
	upload_queue_done(&upload->queue);
	cancel_close(&upload->cancel);
}
