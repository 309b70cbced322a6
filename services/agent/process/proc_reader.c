// SPDX-License-Identifier: Apache-2.0
#include "agent/process/proc_reader_internal.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/heap.h"
#include "base/log.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

enum { PATH_BYTES = 128 };

enum worker_state {
	WORKER_IDLE,  /* its bytes are the sampling thread's */
	WORKER_READS, /* the bytes, the path and the descriptor are the thread's */
	WORKER_STOPS, /* requested: it ends as soon as it does not read */
	WORKER_ENDED,
};

struct proc_worker {
	pthread_t thread;
	pthread_mutex_t lock; /* of the state */
	pthread_cond_t changed;
	enum worker_state state;
	char path[PATH_BYTES]; /* to be opened; empty: open already */
	int fd;
	uint64_t cpu_ns;
	size_t len;
	char bytes[PROC_READ_BYTES];
};

/* A file of /proc returns a page at a time. */
static void read_some(struct proc_worker *worker)
{
	ssize_t n = 0;

	if (worker->path[0]) {
		if (worker->fd >= 0)
			close(worker->fd);
		worker->fd = open(worker->path, O_RDONLY | O_CLOEXEC);
		worker->path[0] = 0;
	}
	worker->len = 0;
	while (worker->fd >= 0 && worker->len < sizeof(worker->bytes) &&
	       (n = read(worker->fd, worker->bytes + worker->len,
			 sizeof(worker->bytes) - worker->len)) > 0)
		worker->len += (size_t)n;
	worker->cpu_ns = clock_thread_cpu_ns();
}

static void *worker_run(void *self)
{
	struct proc_worker *worker = self;

	pthread_mutex_lock(&worker->lock);
	while (worker->state != WORKER_STOPS) {
		if (worker->state == WORKER_IDLE) {
			pthread_cond_wait(&worker->changed, &worker->lock);
			continue;
		}
		pthread_mutex_unlock(&worker->lock);
		read_some(worker);
		pthread_mutex_lock(&worker->lock);
		if (worker->state == WORKER_READS)
			worker->state = WORKER_IDLE;
		pthread_cond_broadcast(&worker->changed);
	}
	if (worker->fd >= 0)
		close(worker->fd);
	worker->state = WORKER_ENDED;
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

/* The thread has the nice value of the sampling thread, which waits for it. NULL: not started. */
static struct proc_worker *worker_start(void)
{
	struct proc_worker *worker = heap_new(struct proc_worker);
	sigset_t all, before;

	worker->fd = -1;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
	sigfillset(&all); /* signals are the main thread's */
	pthread_sigmask(SIG_SETMASK, &all, &before);

	bool started = pthread_create(&worker->thread, NULL, worker_run, worker) == 0;

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started) {
		pthread_setname_np(worker->thread, "proc_reader");
		return worker;
	}
	free(worker);
	return NULL;
}

static bool worker_has_ended(struct proc_worker *worker)
{
	pthread_mutex_lock(&worker->lock);

	bool has = worker->state == WORKER_ENDED;

	pthread_mutex_unlock(&worker->lock);
	return has;
}

static void worker_free(struct proc_worker *worker)
{
	pthread_join(worker->thread, NULL);
	pthread_mutex_destroy(&worker->lock);
	pthread_cond_destroy(&worker->changed);
	free(worker);
}

static void worker_ask_to_stop(struct proc_worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	worker->state = WORKER_STOPS;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

/* False: it does not respond in time. */
static bool worker_read(struct proc_worker *worker, uint64_t deadline_ns)
{
	pthread_mutex_lock(&worker->lock);
	worker->state = WORKER_READS;
	pthread_cond_broadcast(&worker->changed);
	while (worker->state == WORKER_READS &&
	       cond_wait(&worker->changed, &worker->lock, deadline_ns)) {
	}

	bool is_done = worker->state == WORKER_IDLE;

	pthread_mutex_unlock(&worker->lock);
	return is_done;
}

bool proc_reader_may_read(struct proc_reader *reader, uint32_t pid, struct share_owner owner,
			  uint64_t now_ms)
{
	bool has_room = false;

	for (size_t i = 0; i < PROC_HUNG_MAX; i++) {
		struct proc_hung *hung = &reader->pauses[i];
		bool is_its = hung->pid == pid ||
			      (hung->owner.id == owner.id && owner.class_of != OWNER_ROOT);

		if (hung->worker && worker_has_ended(hung->worker))
			worker_free(TAKE(hung->worker));
		if (hung->worker || now_ms < hung->until_ms) {
			if (is_its)
				return false;
		} else {
			has_room = true;
		}
	}
	return has_room;
}

void proc_reader_open(struct proc_reader *reader, const char *path, uint32_t pid,
		      struct share_owner owner)
{
	if (!reader->worker)
		reader->worker = worker_start();
	if (!reader->worker)
		return;
	snprintf(reader->worker->path, sizeof(reader->worker->path), "%s", path);
	reader->pid = pid;
	reader->owner = owner;
	reader->deadline_ns = clock_monotonic_ns() + PROC_READ_MS * NS_PER_MS;
}

/* The process and its owner have used their time. `worker`: it does not respond, and is left
 * behind; else NULL. */
static void pause_reading(struct proc_reader *reader, struct proc_worker *worker, uint64_t now_ms)
{
	struct proc_hung *free_place = NULL;

	for (size_t i = 0; i < PROC_HUNG_MAX; i++)
		if (!reader->pauses[i].worker && now_ms >= reader->pauses[i].until_ms)
			free_place = &reader->pauses[i];
	assert(free_place); /* proc_reader_may_read() */
	log_warn("the mappings of a process cannot be read in time", "pid=%u", reader->pid);
	reader->hung[reader->owner.class_of]++;
	if (worker)
		worker_ask_to_stop(worker);
	*free_place = (struct proc_hung){ .worker = worker,
					  .owner = reader->owner,
					  .pid = reader->pid,
					  .until_ms = now_ms + PROC_HUNG_PAUSE_MS };
}

bool proc_reader_next(struct proc_reader *reader, str *ret_bytes, uint64_t now_ms)
{
	struct proc_worker *worker = reader->worker;
	uint64_t before_ns = worker ? worker->cpu_ns : 0;

	if (!worker)
		return false;
	if (clock_monotonic_ns() >= reader->deadline_ns) {
		pause_reading(reader, NULL, now_ms);
		return false;
	}
	if (!worker_read(worker, reader->deadline_ns)) {
		pause_reading(reader, TAKE(reader->worker), now_ms);
		return false;
	}
	reader->cpu_ns += worker->cpu_ns - before_ns;
	*ret_bytes = (str){ worker->bytes, worker->len };
	return true;
}

void proc_reader_done(struct proc_reader *reader)
{
	if (reader->worker) {
		worker_ask_to_stop(reader->worker);
		worker_free(reader->worker);
	}
	for (size_t i = 0; i < PROC_HUNG_MAX; i++)
		if (reader->pauses[i].worker && worker_has_ended(reader->pauses[i].worker))
			worker_free(reader->pauses[i].worker);
	*reader = (struct proc_reader){ 0 };
}
