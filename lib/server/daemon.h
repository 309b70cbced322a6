// SPDX-License-Identifier: Apache-2.0
/*
 * daemon - the life cycle of a service: signals, /healthy, /ready, /metrics, orderly shutdown.
 *
 * /healthy is 503, with a sentence, while a watched thread hangs (base/liveness.h), so that only a
 * restart helps. Threads that handle requests are watched by the HTTP server; a service watches
 * those that it starts.
 *
 *     int main(int argc, char **argv)
 *     {
 *             return daemon_main(&(struct daemon_program){ ... .run = run }, argc, argv);
 *     }
 *
 * daemon_main() registers metrics, loads the settings, handles --help and --healthcheck, sets up
 * the log, installs handlers for SIGTERM and SIGINT, and calls run(). run() opens the resources of
 * the service, starts the HTTP server with daemon_serve(), works until daemon_stopping(), closes
 * everything and returns. If run() returns false, the error is logged and the exit status is 1.
 *
 * The process has one cancellation token (cancel): the signal handlers and daemon_stop() request
 * it.
 */
#pragma once

#include "base/cancel.h"
#include "base/log.h"
#include "server/config/conf.h"
#include "server/http/http.h"

/* Settings that every service has. Their rows in its table: DAEMON_KEYS(struct settings, its
 * daemon_settings member, default address). */
struct daemon_settings {
	const char *http_address;
	uint64_t address_share; /* percent */
	enum log_level log_level;
};

#define DAEMON_KEYS(settings_type, member, address)                                            \
	{ .flag = "http-address",                                                              \
	  .type = CONF_STR,                                                                    \
	  .offset = offsetof(settings_type, member.http_address),                              \
	  .fallback = (address),                                                               \
	  .help = "Address on which /healthy, /ready, /metrics and the API are served." },     \
		{ .flag = "http-address-share",                                                \
		  .type = CONF_U64,                                                            \
		  .offset = offsetof(settings_type, member.address_share),                     \
		  .fallback = "75",                                                            \
		  .min = 1,                                                                    \
		  .max = 100,                                                                  \
		  .help = "Percent of the HTTP connections that one client address may hold; " \
			  "100 behind a proxy." },                                             \
	{                                                                                      \
		.flag = "log-level", .type = CONF_LOG_LEVEL,                                   \
		.offset = offsetof(settings_type, member.log_level), .fallback = "info",       \
		.help = "Lowest level that is logged: debug, info, warn, error."               \
	}

struct metric;

struct daemon_program {
	struct conf_program conf;
	void *settings;                       /* set before run() is called */
	struct daemon_settings *daemon;       /* inside settings */
	struct metric *const *const *metrics; /* its tables of METRICS(), then NULL; NULL: none */
	bool (*run)(void *settings, struct err *err);
	/* If the orderly end takes longer after the request, the process logs an error and ends
	 * with DAEMON_STATUS_STUCK. 0: not bounded. */
	uint64_t stop_ms;
};

enum { DAEMON_STATUS_STUCK = 3 };

/* Returns the exit status. */
int daemon_main(const struct daemon_program *program, int argc, char **argv);

/* True once shutdown was requested. Async-signal-safe; any thread. */
bool daemon_stopping(void);

/* Request shutdown from inside, for example in a thread that cannot continue. Any thread. */
void daemon_stop(void);

/* Sleep for up to timeout_ms; returns early when shutdown is requested. False: shutdown. */
bool daemon_wait(uint64_t timeout_ms);

/* The process's cancellation token, for modules that do not depend on this one. */
const struct cancel *daemon_cancel(void);

struct daemon_service {
	const struct http_route *routes; /* of the service, in addition to the three above */
	size_t route_count;
	void *self; /* passed to the routes, ready() and periodic() */
	/* False, with a sentence, while the service cannot serve. Called by any thread, and not
	 * while it is not healthy. NULL: ready if it is healthy. */
	bool (*ready)(void *self, struct err *why);
	http_error_body *error_body;                        /* as in http_options */
	void (*freed)(void *self, uint64_t memory_counted); /* as in http_options */
	unsigned int connections;                           /* as in http_options */
	/* Called by daemon_serve_until_stop() every period_ms milliseconds. NULL: not called. */
	void (*periodic)(void *self);
	uint64_t period_ms;
};

/* The server's threads point to it: it must not move until daemon_unserve(). */
struct daemon_server {
	struct http_server http;
	/* private */
	struct daemon_service service;
	struct http_route *routes;
	_Atomic bool is_hung; /* the last response of /healthy */
};

/*
 * Start the HTTP server: the routes of `service`, /healthy and /ready (200, or 503 with a
 * sentence) and /metrics. `service` and its array of routes are copied; the strings of the routes
 * and `self` must outlive the server. A failure is that of http_start(), or ERR_LIMIT without
 * memory; nothing runs then.
 */
bool daemon_serve(struct daemon_server *server, const struct daemon_settings *settings,
		  const struct daemon_service *service, struct err *err) MUST_CHECK;

/* Stop the HTTP server. A zeroed or stopped server is accepted. */
void daemon_unserve(struct daemon_server *server);

/* Serve until shutdown is requested: for services whose main thread has no other work. It is
 * watched. */
bool daemon_serve_until_stop(const struct daemon_settings *settings,
			     const struct daemon_service *service, struct err *err) MUST_CHECK;
