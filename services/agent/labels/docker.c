// SPDX-License-Identifier: Apache-2.0
#include "agent/labels/docker.h"

#include "agent/agent_limits.h"
#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { PIECE_BYTES = 8 << 10, REQUEST_MAX = 512 };

#define DOCKER_OUTCOMES(ROW)                \
	ROW(OUTCOME_APPLIED, "applied")     \
	ROW(OUTCOME_OTHER, "other")         \
	ROW(OUTCOME_MALFORMED, "malformed") \
	ROW(OUTCOME_TOO_LONG, "too_long")   \
	ROW(OUTCOME_TOO_MANY, "too_many")

enum docker_outcome { DOCKER_OUTCOMES(NAMED_CONSTANT) DOCKER_OUTCOME_COUNT };
static const char *const outcome_names[DOCKER_OUTCOME_COUNT] = { DOCKER_OUTCOMES(NAMED_TEXT) };
#define DOCKER_METRICS(ROW)                                                       \
	ROW(objects_total, METRIC_COUNTER, "decima_agent_docker_objects_total",   \
	    "Objects in Docker's responses, by outcome.",                         \
	    METRIC_LABEL("outcome", outcome_names, DOCKER_OUTCOME_COUNT))         \
	ROW(failures_total, METRIC_COUNTER, "decima_agent_docker_failures_total", \
	    "Connections to Docker's socket that failed or were interrupted.")    \
	ROW(known, METRIC_GAUGE, "decima_agent_containers",                       \
	    "Existing containers whose names are known.")

METRICS(docker_metrics, DOCKER_METRICS);

static void handle_object(struct docker *docker, str object)
{
	static const enum docker_outcome outcomes[DOCKER_KIND_COUNT] = {
		[DOCKER_CONTAINER] = OUTCOME_APPLIED,
		[DOCKER_OTHER] = OUTCOME_OTHER,
		[DOCKER_MALFORMED] = OUTCOME_MALFORMED,
	};
	AUTO_ARENA arena = { 0 };
	struct docker_container container;
	enum docker_kind kind = docker_object_read(object, &arena, &container);
	enum docker_outcome outcome = outcomes[kind];

	if (kind == DOCKER_CONTAINER && !containers_put(&docker->containers, &container))
		outcome = OUTCOME_TOO_MANY;
	metric_add_at(&objects_total, outcome, 1);
	metric_set(&known, (int64_t)containers_count(&docker->containers));
}

static bool connect_to(const char *path, int *ret_fd, struct err *err)
{
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (fd < 0)
		return err_errno(err, "create a socket");
	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, ERR_INVALID, "the path %s is too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return err_errno(err, "connect to %s", path);
	*ret_fd = fd_take(&fd);
	return true;
}

/* The next bytes; empty: the end. False: cancelled, the deadline passed, or an error. */
static bool receive(const struct docker *docker, int fd, uint64_t deadline_ns, char *room, str *ret,
		    struct err *err)
{
	for (;;) {
		ssize_t n = recv(fd, room, PIECE_BYTES, 0);

		if (n >= 0) {
			*ret = (str){ room, (size_t)n };
			return true;
		}
		if (errno != EAGAIN && errno != EINTR)
			return err_errno(err, "receive from %s", docker->socket);

		struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
					{ .fd = docker->cancel.fd, .events = POLLIN } };
		uint64_t now_ns = clock_monotonic_ns();

		if (cancel_requested(&docker->cancel) || now_ns >= deadline_ns)
			return err_set(err, ERR_IO, "%s did not respond in time", docker->socket);

		uint64_t left_ms = (deadline_ns - now_ns) / NS_PER_MS + 1;

		(void)!poll(fds, ARRAY_LEN(fds), liveness_wait_ms(left_ms));
	}
}

/* Skip the head of a response; *ret_body is what was received after it, in `room`. */
static bool read_head(const struct docker *docker, int fd, uint64_t deadline_ns, char *room,
		      str *ret_body, struct err *err)
{
	char head[DOCKER_HEAD_MAX];
	size_t len = 0;

	for (;;) {
		str piece, all, body;
		size_t end;

		if (!receive(docker, fd, deadline_ns, room, &piece, err))
			return false;
		if (!piece.len)
			return err_set(err, ERR_IO, "%s closed the connection", docker->socket);
		if (piece.len > sizeof(head) - len)
			return err_set(err, ERR_LIMIT, "the head of a response of %s is too long",
				       docker->socket);
		memcpy(head + len, piece.ptr, piece.len);
		all = (str){ head, len + piece.len };
		end = str_find(all, STR("\r\n\r\n"));
		if (end == SIZE_MAX) {
			len = all.len;
			continue;
		}
		if (!str_starts_with(all, STR("HTTP/1.")) ||
		    str_find((str){ head, end }, STR(" 200 ")) > sizeof("HTTP/1."))
			return err_set(err, ERR_IO, "%s responded with an error", docker->socket);
		body = str_skip(all, end + 4);
		memmove(room, body.ptr, body.len);
		*ret_body = (str){ room, body.len };
		return true;
	}
}

static void split_bytes(struct docker *docker, struct docker_splitter *splitter, str bytes)
{
	enum docker_split_result piece;
	str object;

	while ((piece = docker_split(splitter, &bytes, &object)) != DOCKER_MORE) {
		if (piece == DOCKER_OBJECT)
			handle_object(docker, object);
		else
			metric_add_at(&objects_total, OUTCOME_TOO_LONG, 1);
	}
}

/*
 * Send a request and handle all objects of the response, until its end. HTTP/1.0, so that the
 * response is not chunked and ends with the connection.
 */
static bool get(struct docker *docker, const char *path, uint64_t deadline_ns, struct err *err)
{
	AUTO_FD fd = -1;
	struct docker_splitter splitter = { 0 };
	char request[REQUEST_MAX], room[PIECE_BYTES];
	int len =
		snprintf(request, sizeof(request), "GET %s HTTP/1.0\r\nHost: docker\r\n\r\n", path);
	str bytes = { 0 };
	bool ok;

	if (!connect_to(docker->socket, &fd, err))
		return false;
	if (send(fd, request, (size_t)len, MSG_NOSIGNAL) != len)
		return err_errno(err, "send a request to %s", docker->socket);
	ok = read_head(docker, fd, clock_monotonic_ns() + DOCKER_RESPONSE_MS * NS_PER_MS, room,
		       &bytes, err);
	while (ok) {
		split_bytes(docker, &splitter, bytes);
		ok = receive(docker, fd, deadline_ns, room, &bytes, err);
		if (!bytes.len)
			break;
	}
	docker_splitter_done(&splitter);
	return ok;
}

/* Events are requested since a time before the list, so that no change is missed. */
static bool follow(struct docker *docker, struct err *err)
{
	uint64_t now_ns = clock_unix_ns();
	char path[REQUEST_MAX / 2];

	containers_list_begin(&docker->containers);
	if (!get(docker, "/containers/json?all=1",
		 clock_monotonic_ns() + DOCKER_LIST_MS * NS_PER_MS, err))
		return false;
	containers_list_end(&docker->containers);
	if (!atomic_exchange(&docker->is_first_list_over, true) || docker->has_failed)
		log_info("container names available", "socket=%s containers=%zu", docker->socket,
			 containers_count(&docker->containers));
	docker->has_failed = false;
	snprintf(path, sizeof(path),
		 "/events?since=%" PRIu64 ".%09" PRIu64
		 "&filters=%%7B%%22type%%22%%3A%%5B%%22container%%22%%5D%%7D",
		 now_ns / NS_PER_SECOND, now_ns % NS_PER_SECOND);
	return get(docker, path, UINT64_MAX, err);
}

static void *docker_run(void *self)
{
	struct docker *docker = self;
	uint64_t pause_ms = DOCKER_PAUSE_FIRST_MS;

	liveness_begin("docker");
	while (!cancel_requested(&docker->cancel)) {
		struct err err = { .msg = "the stream of events ended" };
		uint64_t began_ns = clock_monotonic_ns();

		if (!follow(docker, &err) && !cancel_requested(&docker->cancel)) {
			metric_add(&failures_total, 1);
			if (!docker->has_failed)
				log_info("container names not available", "error=\"%s\"", err.msg);
			docker->has_failed = true;
		}
		atomic_store(&docker->is_first_list_over, true);
		if (clock_monotonic_ns() - began_ns > DOCKER_PAUSE_MAX_MS * NS_PER_MS)
			pause_ms = DOCKER_PAUSE_FIRST_MS; /* the stream worked for a while */
		if (!cancel_wait(&docker->cancel, pause_ms))
			break;
		pause_ms = pause_ms * 2 < DOCKER_PAUSE_MAX_MS ? pause_ms * 2 : DOCKER_PAUSE_MAX_MS;
	}
	liveness_end();
	return NULL;
}

bool docker_start(struct docker *docker, const char *socket, struct err *err)
{
	sigset_t all, before;

	*docker = (struct docker){ .socket = socket, .cancel = { .fd = -1 } };
	containers_init(&docker->containers);
	if (!*socket)
		return true;
	if (!cancel_open(&docker->cancel, err))
		return false;
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	docker->running = pthread_create(&docker->thread, NULL, docker_run, docker) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!docker->running) {
		cancel_close(&docker->cancel);
		return err_set(err, ERR_IO, "start the thread that reads from Docker");
	}
	pthread_setname_np(docker->thread, "docker");
	for (int i = 0; i < DOCKER_FIRST_STEPS && !atomic_load(&docker->is_first_list_over); i++)
		clock_sleep_ms(DOCKER_FIRST_STEP_MS);
	return true;
}

void docker_stop(struct docker *docker)
{
	if (docker->running) {
		cancel_request(&docker->cancel);
		pthread_join(docker->thread, NULL);
		cancel_close(&docker->cancel);
	}
	containers_done(&docker->containers);
	*docker = (struct docker){ 0 };
}
