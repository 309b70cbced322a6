// SPDX-License-Identifier: Apache-2.0
/*
 * daemon - the life of a service: signals, /healthy, /ready, /metrics, and an end in order.
 *
 *     int main(int argc, char **argv)
 *     {
 *             return daemon_main(&(struct daemon_program){ ... .run = run }, argc, argv);
 *     }
 *
 * daemon_main() loads the settings, answers --help and --healthcheck, sets up the log, catches
 * SIGTERM and SIGINT, and calls run(). run() opens what the service needs, starts HTTP with
 * daemon_serve(), works until daemon_stopping(), closes everything and returns. A false return is
 * logged once and becomes exit status 1.
 */
#pragma once

#include "base/log.h"
#include "base/stop.h"
#include "chassis/conf.h"
#include "chassis/http.h"

/* The first members of every service's settings; conf rows: DAEMON_KEYS(struct settings, its
 * daemon_settings member, default address). */
struct daemon_settings {
	const char *http_address;
	enum log_level log_level;
};

#define DAEMON_KEYS(settings_type, member, address)                                      \
	{ .flag = "http-address",                                                        \
	  .type = CONF_STR,                                                              \
	  .offset = offsetof(settings_type, member.http_address),                        \
	  .fallback = (address),                                                         \
	  .help = "Address to serve /healthy, /ready, /metrics and the API on." },       \
	{                                                                                \
		.flag = "log-level", .type = CONF_LOG_LEVEL,                             \
		.offset = offsetof(settings_type, member.log_level), .fallback = "info", \
		.help = "Least level that is logged: debug, info, warn, error."          \
	}

struct daemon_program {
	struct conf_program conf;
	void *settings;                 /* filled before run() is called */
	struct daemon_settings *daemon; /* inside settings */
	void (*register_metrics)(void); /* NULL: none of its own. Called first */
	bool (*run)(void *settings, struct err *err);
};

int daemon_main(const struct daemon_program *program, int argc, char **argv);

/* Whether a stop was asked for. Signal-safe, any thread. */
bool daemon_stopping(void);

/* Ask for the stop from inside (a worker thread that cannot go on). */
void daemon_stop(void);

/* Sleep, at most timeout_ms, less when a stop is asked for. False: stop. */
bool daemon_wait(uint64_t timeout_ms);

/* The same for those who may not know of us: to be handed down. */
const struct stop *daemon_stop_flag(void);

struct daemon_service {
	const struct http_route *routes; /* the service's own, beside the three */
	size_t route_count;
	void *self; /* given to routes and ready */
	/* False with a sentence while it cannot serve. NULL: ready once served. Any thread. */
	bool (*ready)(void *self, struct err *why);
	http_refuse *refuse;      /* as in http_options */
	unsigned int connections; /* as in http_options */
	/* What daemon_serve_until_stop() does meanwhile, and how often. NULL: nothing. */
	void (*meanwhile)(void *self);
	uint64_t every_ms;
};

/* Handed to the server's threads: it must not move until daemon_unserve(). */
struct daemon_server {
	struct http_server http;
	/* private */
	struct daemon_service service;
	struct http_route *routes;
};

/* Serve /healthy (200 while the process lives), /ready (200 or 503 with the sentence), /metrics. */
bool daemon_serve(struct daemon_server *server, const struct daemon_settings *settings,
		  const struct daemon_service *service, struct err *err) MUST_CHECK;
void daemon_unserve(struct daemon_server *server);

/* For who does nothing else: serve, until a stop is asked for. */
bool daemon_serve_until_stop(const struct daemon_settings *settings,
			     const struct daemon_service *service, struct err *err) MUST_CHECK;
