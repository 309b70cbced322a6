// SPDX-License-Identifier: Apache-2.0
#include "server/daemon.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "server/http/socket.h"
#include "server/limits.h"
#include "server/metrics/metrics.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

static struct cancel cancel = { .fd = -1 }; /* one of the three global variables */

const struct cancel *daemon_cancel(void)
{
	return &cancel;
}

void daemon_stop(void)
{
	cancel_request(&cancel);
}

bool daemon_wait(uint64_t timeout_ms)
{
	return cancel_wait(&cancel, timeout_ms);
}

bool daemon_stopping(void)
{
	return cancel_requested(&cancel);
}

#define DAEMON_METRICS(ROW)                                                       \
	ROW(log_truncated, METRIC_COUNTER, "decima_log_lines_truncated_total",    \
	    "Log lines whose fields were truncated, because they were too long.", \
	    .read = log_lines_truncated)

DAEMON_METRICS(METRIC_STATIC_VARIABLE)
static METRICS_TABLE(daemon_metrics, DAEMON_METRICS);

static void on_signal(int number)
{
	(void)number;
	daemon_stop();
}

static bool catch_signals(struct err *err)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (!cancel_open(&cancel, err))
		return false;
	if (sigaction(SIGTERM, &action, NULL) < 0 || sigaction(SIGINT, &action, NULL) < 0 ||
	    sigaction(SIGPIPE, &ignore, NULL) < 0)
		return err_errno(err, "install signal handlers");
	return true;
}

/* Ends the process if its orderly end hangs. A process that ends in time ends this thread. */
static void *guard_stop(void *self)
{
	const uint64_t *stop_ms = self;

	while (cancel_wait(&cancel, UINT64_MAX))
		;
	for (uint64_t ends_ns = clock_monotonic_ns() + *stop_ms * NS_PER_MS, now_ns;
	     (now_ns = clock_monotonic_ns()) < ends_ns;)
		clock_sleep_ms((ends_ns - now_ns) / NS_PER_MS + 1);
	log_error("the process did not end in time, ending it", "after_ms=%ju",
		  (uintmax_t)*stop_ms);
	_exit(DAEMON_STATUS_STUCK);
}

static bool start_guard(const struct daemon_program *program, struct err *err)
{
	static uint64_t stop_ms;
	pthread_t thread;

	if (!program->stop_ms)
		return true;
	stop_ms = program->stop_ms;
	if (pthread_create(&thread, NULL, guard_stop, &stop_ms) != 0)
		return err_set(err, ERR_IO, "cannot start the thread that bounds the stop");
	pthread_detach(thread);
	return true;
}

/* GET /ready. *ret_body points into `response`. */
static bool get_ready(const char *address, char *response, size_t cap, bool *ret_ready,
		      str *ret_body, struct err *err)
{
	static const char request[] =
		"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	AUTO_FD fd = -1;
	size_t len = 0;

	if (!socket_connect(address, HEALTHCHECK_SECONDS * 1000, &fd, err))
		return false;
	if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
		return err_errno(err, "send to %s", address);
	while (len < cap) {
		ssize_t n = recv(fd, response + len, cap - len, 0);

		if (n < 0)
			return err_errno(err, "receive from %s", address);
		if (n == 0)
			break;
		len += (size_t)n;
	}

	str body = { response, len };
	size_t head = str_find(body, STR("\r\n\r\n"));

	if (head == SIZE_MAX)
		return err_set(err, ERR_IO, "%s does not respond with HTTP", address);
	*ret_ready = str_find((str){ response, head }, STR(" 200 ")) < sizeof("HTTP/1.1");
	*ret_body = str_trim(str_skip(body, head + 4));
	return true;
}

static int healthcheck(const struct daemon_settings *settings)
{
	char response[4096];
	bool ready = false;
	str body = { 0 };
	struct err err;

	if (!get_ready(settings->http_address, response, sizeof(response), &ready, &body, &err)) {
		fprintf(stderr, "not ready: %s\n", err.msg);
		return 1;
	}
	if (!ready)
		fprintf(stderr, "not ready: " STR_FMT "\n", STR_ARG(body));
	return ready ? 0 : 1;
}

int daemon_main(const struct daemon_program *program, int argc, char **argv)
{
	const char *name = program->conf.name;
	const char *dash = strchr(name, '-');
	enum conf_action action = CONF_RUN;
	struct err err = { 0 };

	metrics_register(daemon_metrics); /* before conf_load(), which may print them */
	metrics_register(http_metrics);
	for (size_t i = 0; program->metrics && program->metrics[i]; i++)
		metrics_register(program->metrics[i]);
	if (!conf_load(program->settings, &program->conf, argc, argv, &action, &err)) {
		fprintf(stderr, "%s: %s\n", name, err.msg);
		return 1;
	}
	if (action == CONF_EXIT)
		return 0;
	if (action == CONF_HEALTHCHECK)
		return healthcheck(program->daemon);

	log_init(dash ? dash + 1 : name, program->daemon->log_level);
	log_info("starting", "version=%s pid=%d", DECIMA_VERSION, getpid());
	if (!catch_signals(&err) || !start_guard(program, &err) ||
	    !program->run(program->settings, &err)) {
		log_error("service failed", "error=\"%s\"", err.msg);
		return 1;
	}
	log_info("stopped");
	return 0;
}

static void serve_healthy(void *self, const struct http_request *req, struct http_response *res)
{
	struct daemon_server *server = self;
	struct err why = { 0 };
	bool healthy = liveness_check(&why);

	if (atomic_exchange(&server->is_hung, !healthy) == healthy && !healthy)
		log_error("not healthy", "error=\"%s\"", why.msg);
	res->status = healthy ? 200 : 503;
	res->body = healthy ? STR("ok\n") : str_format(req->arena, "%s\n", why.msg);
}

static void serve_ready(void *self, const struct http_request *req, struct http_response *res)
{
	struct daemon_server *server = self;
	struct err why = { .code = ERR_NONE, .msg = "stopping" };
	bool ready = !daemon_stopping() && liveness_check(&why);

	if (ready && server->service.ready)
		ready = server->service.ready(server->service.self, &why);
	res->status = ready ? 200 : 503;
	res->body = ready ? STR("ready\n") : str_format(req->arena, "%s\n", why.msg);
}

static void serve_metrics(void *self, const struct http_request *req, struct http_response *res)
{
	struct buf out = { .arena = req->arena };

	(void)self;
	metrics_write(&out);
	res->content_type = "text/plain; version=0.0.4; charset=utf-8";
	res->body = buf_bytes(&out);
}

bool daemon_serve(struct daemon_server *server, const struct daemon_settings *settings,
		  const struct daemon_service *service, struct err *err)
{
	const struct http_route own[] = {
		{ .method = "GET",
		  .path = "/healthy",
		  .handle = serve_healthy,
		  .self = server,
		  .is_health = true },
		{ .method = "GET",
		  .path = "/ready",
		  .handle = serve_ready,
		  .self = server,
		  .is_health = true },
		{ .method = "GET", .path = "/metrics", .handle = serve_metrics, .is_health = true },
	};
	size_t count = ARRAY_LEN(own) + service->route_count;

	server->service = *service;
	server->routes = calloc(count, sizeof(*server->routes));
	if (!server->routes)
		return err_set(err, ERR_LIMIT, "out of memory");
	memcpy(server->routes, own, sizeof(own));
	if (service->route_count)
		memcpy(server->routes + ARRAY_LEN(own), service->routes,
		       service->route_count * sizeof(*service->routes));

	struct http_options options = { .address = settings->http_address,
					.routes = server->routes,
					.route_count = count,
					.service = service->self,
					.error_body = service->error_body,
					.freed = service->freed,
					.connections = service->connections,
					.share_percent = (unsigned int)settings->address_share };

	if (!http_start(&server->http, &options, err)) {
		free(TAKE(server->routes));
		return false;
	}
	log_info("serving", "address=%s port=%u", settings->http_address, server->http.port);
	return true;
}

void daemon_unserve(struct daemon_server *server)
{
	http_stop(&server->http);
	free(TAKE(server->routes));
}

bool daemon_serve_until_stop(const struct daemon_settings *settings,
			     const struct daemon_service *service, struct err *err)
{
	struct daemon_server server = { 0 };

	if (!daemon_serve(&server, settings, service, err))
		return false;
	liveness_begin("main");
	while (daemon_wait(service->periodic ? service->period_ms : UINT64_MAX))
		if (service->periodic)
			service->periodic(service->self);
	liveness_end();
	daemon_unserve(&server);
	return true;
}
