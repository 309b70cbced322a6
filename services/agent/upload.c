// SPDX-License-Identifier: Apache-2.0
#include "upload.h"

#include "agent_limits.h"
#include "base/clock.h"
#include "base/log.h"
#include "pace.h"
#include "upload_job.h"

#include <signal.h>
#include <stdio.h>

static uint64_t now(void)
{
	return clock_monotonic_ns();
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
	upload_count(trouble);
	if (trouble == UPLOAD_UNREACHABLE) {
		pause_longer(upload);
	} else if (++job->tries < UPLOAD_TRIES_MAX) {
		job->due_ns = now() + delay_ms(job->tries - 1, retry_after_s) * NS_PER_MS;
	} else {
		upload_give_up(upload, job, UPLOAD_GAVE_UP);
		return;
	}
	upload_append(upload, job);
}

/* Each part is counted when it is decided; the job is done when both are. */
static void take_answer(struct upload *upload, struct upload_job *job,
			const struct upload_answer_message *answer)
{
	enum upload_outcome trouble = UPLOAD_OUTCOME_COUNT;

	upload_count_sent(answer->bytes);
	for (size_t i = 0; i < UPLOAD_PART_COUNT; i++) {
		enum upload_outcome outcome = answer->outcomes[i];

		if (outcome == UPLOAD_OUTCOME_COUNT)
			continue;
		upload_tell(job, answer, outcome);
		if (outcome >= UPLOAD_FINAL_COUNT) {
			trouble = outcome;
			continue;
		}
		upload_count(outcome);
		job->is_done[i] = true;
	}
	if (trouble != UPLOAD_UNREACHABLE)
		upload->pause_ms = 0;
	if (trouble != UPLOAD_OUTCOME_COUNT)
		try_again(upload, job, trouble, answer->retry_after_s);
	else
		upload_job_close(upload, job);
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
static enum worker_reply ask_worker(struct upload *upload, const struct upload_job *job,
				    struct upload_answer_message *answer)
{
	uint64_t end_ns = now() + upload->options.timeout_ns + UPLOAD_GRACE_MS * NS_PER_MS;
	struct upload_job_message message = { .is_done = { job->is_done[UPLOAD_PART_OWN],
							   job->is_done[UPLOAD_PART_COMMON] } };
	enum worker_reply reply = WORKER_DIED;

	snprintf(message.build_id, sizeof(message.build_id), "%s", job->build_id);
	snprintf(message.path, sizeof(message.path), "%s", job->path);
	if (!upload_worker_hand(&upload->worker, &message, job->fds))
		return reply;
	do {
		reply = upload_worker_wait(&upload->worker, UPLOAD_LOOK_MS, &upload->stop, answer);
		upload_take_offers(upload, 0);
		upload_look(upload);
	} while (reply == WORKER_NOT_YET && now() < end_ns);
	return reply;
}

static void run_job(struct upload *upload, struct upload_job *job)
{
	struct upload_answer_message answer = { .retry_after_s = 0 };
	enum worker_reply reply = ask_worker(upload, job, &answer);

	if (reply != WORKER_ANSWERED)
		worker_end(&upload->worker);
	switch (reply) {
	case WORKER_ANSWERED:
		take_answer(upload, job, &answer);
		break;
	case WORKER_DIED:
		upload_give_up(upload, job, UPLOAD_CRASHED);
		break;
	case WORKER_NOT_YET:
		upload_tell(job, &answer, UPLOAD_TIMED_OUT);
		job->tries += UPLOAD_TRIES_MAX / 2; /* it kept all others waiting */
		try_again(upload, job, UPLOAD_TIMED_OUT, 0);
		break;
	case WORKER_STOPPED:
	case WORKER_REPLY_COUNT:
		upload_append(upload, job);
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
			return upload_unlink(upload, at);
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
		worker_end(&upload->worker);
	upload_measure(upload);
	/* With nothing to do there is nothing to look at. */
	if (!upload->first && !upload->worker.pid)
		wait_ms = UPLOAD_IDLE_MS;
	upload_take_offers(upload, wait_ms);
}

static void *upload_run(void *self)
{
	struct upload *upload = self;
	uint64_t wait_ms = 0;

	while (!stop_is_asked(&upload->stop)) {
		struct upload_job *job;

		upload_take_offers(upload, 0);
		upload_look(upload);
		job = next_job(upload, &wait_ms);
		if (job && ensure_worker(upload))
			run_job(upload, job);
		else if (job)
			upload_append(upload, job);
		else
			rest(upload, wait_ms);
	}
	worker_end(&upload->worker);
	upload_measure(upload);
	return NULL;
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
	upload_take_offers(upload, 0);
	while (upload->first)
		upload_job_close(upload, upload_unlink(upload, &upload->first));
	queue_done(&upload->offered);
	stop_close(&upload->stop);
}
