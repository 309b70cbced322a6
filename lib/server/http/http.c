// SPDX-License-Identifier: Apache-2.0
#include "server/http/http.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "base/vec.h"
#include "server/http/http_body_internal.h"
#include "server/http/http_metrics_internal.h"
#include "server/http/socket.h"
#include "server/limits.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdio.h>
#include <strings.h>

/* At shutdown: how long requests may continue, then how long cancelled handlers may take to return.
 */
enum { DRAIN_MS = 2000, CANCEL_MS = 3000 };

static const char REQUEST_THREAD[] = "request"; /* in the message of /healthy */

/* A request and its response. Lives in its own arena. */
struct http_exchange {
	struct arena arena;
	str target; /* path and query, as received */
	bool started;
	struct http_request request;
	const struct http_route *route;
	struct http_body body;
	size_t received, drained; /* bytes of the body; bytes discarded after an early response */
	const struct http_stream *stream; /* of the route, once begin() returned true */
	uint64_t stream_began_ns;
	bool answered;  /* the stream has set `response` before the end of the body */
	bool is_unread; /* the response was sent before the end of the body */
	struct http_response response;
	int error_status; /* of an error response that the server makes; 0: none */
	const char *error_text;
	struct http_param error_header; /* of that response */
};

static bool path_matches(const struct http_route *route, str path)
{
	str own = str_from(route->path);
	bool is_prefix = own.len > 1 && str_ends_with(own, STR("/"));

	return str_eq(path, own) || (is_prefix && str_starts_with(path, own));
}

static bool method_matches(const struct http_route *route, str method)
{
	str own = str_from(route->method);

	return str_eq(method, own) || (str_eq(method, STR("HEAD")) && str_eq(own, STR("GET")));
}

static void reject(struct http_exchange *exchange, int status, const char *why)
{
	exchange->error_status = status;
	exchange->error_text = why;
}

/* Sets the route, or an error response. */
static void find_route(const struct http_server *server, struct http_exchange *exchange)
{
	struct http_request *req = &exchange->request;
	struct buf allow = { .arena = &exchange->arena };

	for (size_t i = 0; i < server->options.route_count; i++) {
		const struct http_route *route = &server->options.routes[i];

		if (!path_matches(route, req->path))
			continue;
		if (method_matches(route, req->method)) {
			exchange->route = route;
			liveness_step(route->path);
			req->below = str_skip(req->path, strlen(route->path));
			return;
		}
		buf_format(&allow, "%s%s", allow.len ? ", " : "", route->method);
	}
	if (allow.len == 0) {
		reject(exchange, MHD_HTTP_NOT_FOUND, "nothing is served at this path");
		return;
	}
	exchange->error_header = (struct http_param){ STR("Allow"), buf_bytes(&allow) };
	reject(exchange, MHD_HTTP_METHOD_NOT_ALLOWED,
	       "this path does not support the method; see the Allow header");
}

static void parse_target(struct http_exchange *exchange)
{
	struct http_request *req = &exchange->request;
	str query = exchange->target;
	str path = str_cut(&query, '?');
	struct http_param *params;
	struct err err;

	req->path = path;
	if (exchange->target.len > HTTP_URL_MAX) {
		reject(exchange, MHD_HTTP_URI_TOO_LONG, "the URL is too long");
	} else if (!url_decode(path, false, &exchange->arena, &req->path, &err) ||
		   !url_query_parse(query, &exchange->arena, &params, &req->param_count, &err)) {
		const char *why = str_z(&exchange->arena, str_from(err.msg));

		reject(exchange, MHD_HTTP_BAD_REQUEST, why);
	} else {
		req->params = params;
	}
}

static void check_body_length(struct http_exchange *exchange, struct MHD_Connection *connection)
{
	const char *content_length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
								 MHD_HTTP_HEADER_CONTENT_LENGTH);
	size_t max = exchange->route ? exchange->route->body_max : 0;
	uint64_t len;

	if (!content_length || exchange->error_status)
		return;
	if (!str_to_u64(str_from(content_length), &len) || len > max) {
		reject(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long");
	}
}

/* Whether to send an error response now: the client waits for a 100, or the body is, or may be,
 * longer than HTTP_DRAIN_MAX. Otherwise the body is read first, so that the connection can be used
 * for the next request. */
static bool must_respond_early(struct MHD_Connection *connection)
{
	const char *content_length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
								 MHD_HTTP_HEADER_CONTENT_LENGTH);
	const char *expects =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT);
	uint64_t len;

	const char *encoding = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							   MHD_HTTP_HEADER_TRANSFER_ENCODING);

	return expects || encoding ||
	       (content_length &&
		(!str_to_u64(str_from(content_length), &len) || len > HTTP_DRAIN_MAX));
}

struct headers {
	struct arena *arena;
	VEC(struct http_param) list;
};

static enum MHD_Result copy_header(void *self, enum MHD_ValueKind kind, const char *name,
				   size_t name_len, const char *value, size_t value_len)
{
	struct headers *headers = self;

	(void)kind;
	*vec_push(headers->arena, &headers->list) =
		(struct http_param){ str_copy(headers->arena, (str){ name, name_len }),
				     str_copy(headers->arena, (str){ value, value_len }) };
	return MHD_YES;
}

static void copy_headers(struct http_exchange *exchange, struct MHD_Connection *connection)
{
	struct headers headers = { .arena = &exchange->arena };

	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, copy_header, &headers);
	exchange->request.headers = headers.list.items;
	exchange->request.header_count = headers.list.len;
}

static void *service_of(const struct http_server *server, const struct http_exchange *exchange)
{
	void *self = exchange->route ? exchange->route->self : NULL;

	return self ? self : server->options.service;
}

static void begin_stream(struct http_server *server, struct http_exchange *exchange)
{
	const struct http_stream *stream = exchange->route ? exchange->route->stream : NULL;

	if (exchange->error_status || !stream)
		return;
	exchange->stream_began_ns = clock_monotonic_ns();
	if (stream->begin(service_of(server, exchange), &exchange->request, &exchange->response))
		exchange->stream = stream;
	else
		exchange->answered = true;
}

/* Set the deadline of the next piece: a streamed body may take long, but must not stall, nor come
 * more slowly than its least rate. */
static void extend_deadline(struct http_server *server, const struct http_exchange *exchange,
			    struct http_slot *slot)
{
	const struct http_stream *stream = exchange->stream;
	uint64_t whole = exchange->stream_began_ns + stream->whole_ms * NS_PER_MS;
	uint64_t piece = clock_monotonic_ns() + stream->stall_ms * NS_PER_MS;
	uint64_t first = whole < piece ? whole : piece;

	if (stream->slowest_bytes) {
		uint64_t sent = exchange->received + exchange->drained;
		uint64_t slowest = exchange->stream_began_ns + stream->stall_ms * NS_PER_MS +
				   sent / stream->slowest_bytes * NS_PER_SECOND;

		first = slowest < first ? slowest : first;
	}
	http_watch_until(&server->watch, slot, first);
}

static struct http_slot *slot_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* The client may try again soon. */
static void reject_now(struct http_exchange *exchange, const char *why)
{
	reject(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, why);
	exchange->error_header = (struct http_param){ STR("Retry-After"), STR("1") };
}

static void admit(struct http_server *server, struct http_exchange *exchange,
		  struct http_slot *slot)
{
	const char *why = http_watch_admit(&server->watch, slot);

	if (why)
		reject_now(exchange, why);
}

static void begin(struct http_server *server, struct http_exchange *exchange,
		  struct MHD_Connection *connection, const char *method)
{
	struct http_slot *slot = slot_of(connection);

	exchange->started = true;
	exchange->request.arena = &exchange->arena;
	exchange->request.client = slot ? slot->client : NULL;
	exchange->request.method = str_copy(&exchange->arena, str_from(method));
	parse_target(exchange);
	if (!exchange->error_status)
		find_route(server, exchange);
	if (!(exchange->route && exchange->route->is_health))
		admit(server, exchange, slot);
	check_body_length(exchange, connection);
	copy_headers(exchange, connection);
	begin_stream(server, exchange);
}

/* False: the client keeps sending although the body was rejected; close the connection. */
static bool receive_piece(struct http_server *server, struct http_exchange *exchange, str piece)
{
	const struct http_route *route = exchange->route;

	if (!exchange->error_status && !exchange->answered &&
	    piece.len > (route ? route->body_max : 0) - exchange->received)
		reject(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long");
	if (exchange->error_status || exchange->answered) {
		exchange->drained += piece.len;
		if (exchange->drained <= HTTP_DISCARD_MAX)
			return true;
		metric_add(&http_unread_bodies_total, 1);
		return false;
	}
	exchange->received += piece.len;
	if (!exchange->stream && !http_body_add(&exchange->body, piece))
		reject_now(exchange, "the bodies of other requests use all memory for bodies");
	else if (exchange->stream &&
		 !exchange->stream->on_piece(service_of(server, exchange), &exchange->request,
					     piece, &exchange->response))
		exchange->answered = true;
	return true;
}

static void make_error_response(const struct http_server *server, struct http_exchange *exchange,
				struct http_response *res)
{
	res->status = exchange->error_status;
	if (exchange->error_header.name.len) {
		res->headers = &exchange->error_header;
		res->header_count = 1;
	}
	if (server->options.error_body)
		server->options.error_body(server->options.service, &exchange->request,
					   exchange->error_text, res);
	else
		res->body = str_format(&exchange->arena, "%s\n", exchange->error_text);
}

static struct MHD_Response *make_mhd_response(const struct http_response *res)
{
	const struct http_file *file = res->file;

	/* The body is in the exchange's arena, which is freed after the response has been sent. */
	if (!file)
		return MHD_create_response_from_buffer(
			res->body.len, (char *)(uintptr_t)res->body.ptr, MHD_RESPMEM_PERSISTENT);

	struct MHD_Response *made =
		MHD_create_response_from_fd_at_offset64(file->len, file->fd, file->offset);

	if (!made)
		close(file->fd);
	return made;
}

static enum MHD_Result queue(struct http_exchange *exchange, struct MHD_Connection *connection,
			     const struct http_response *res)
{
	struct MHD_Response *made = make_mhd_response(res);

	if (!made)
		return MHD_NO;
	MHD_add_response_header(made, MHD_HTTP_HEADER_CONTENT_TYPE, res->content_type);
	for (size_t i = 0; i < res->header_count; i++)
		MHD_add_response_header(made, str_z(&exchange->arena, res->headers[i].name),
					str_z(&exchange->arena, res->headers[i].value));

	enum MHD_Result queued = MHD_queue_response(connection, (unsigned int)res->status, made);

	MHD_destroy_response(made);
	return queued;
}

static void handle(struct http_server *server, struct http_exchange *exchange,
		   struct http_slot *slot)
{
	struct cancel gone = { .fd = -1 };
	struct err err;

	if (!cancel_open(&gone, &err))
		log_debug("a client's disconnect will be noticed late", "error=\"%s\"", err.msg);
	assert(exchange->route); /* a request without a route has an error status */
	exchange->request.gone = &gone;
	http_watch_handling(&server->watch, slot, &gone);
	exchange->route->handle(service_of(server, exchange), &exchange->request,
				&exchange->response);
	/* After the change of phase the watch thread no longer uses `gone`. */
	http_watch_phase(&server->watch, slot, HTTP_SENDING);
	exchange->request.gone = NULL;
	cancel_close(&gone);
}

static enum MHD_Result respond(struct http_server *server, struct http_exchange *exchange,
			       struct MHD_Connection *connection)
{
	struct http_response *res = &exchange->response;
	struct http_slot *slot = slot_of(connection);
	uint64_t began = clock_monotonic_ns(), len;

	exchange->request.body = (str){ exchange->body.ptr, exchange->body.len };
	if (exchange->error_status)
		make_error_response(server, exchange, res);
	else if (!exchange->answered)
		handle(server, exchange, slot);
	len = res->file ? res->file->len : res->body.len;
	http_metrics_count(exchange->route, res->status);
	log_debug("request served",
		  "method=" STR_FMT " path=\"" STR_FMT "\" status=%d bytes=%ju took_us=%ju",
		  STR_ARG(exchange->request.method), STR_ARG(exchange->request.path), res->status,
		  (uintmax_t)len, (uintmax_t)((clock_monotonic_ns() - began) / 1000));
	http_watch_sending(&server->watch, slot, len, res->deadline_ns);
	return queue(exchange, connection, res);
}

/* Called first, when the request line is complete, with its target. The result is *state of the
 * later callbacks.
 */
static void *receive_target(void *cls, const char *target, struct MHD_Connection *connection)
{
	struct http_server *server = cls;
	struct arena arena = { 0 };
	struct http_exchange *exchange = arena_new(&arena, struct http_exchange);

	http_watch_begin(&server->watch, slot_of(connection));
	exchange->arena = arena;
	exchange->response = (struct http_response){ .status = MHD_HTTP_OK,
						     .content_type = "text/plain; charset=utf-8" };
	exchange->target = str_copy(&exchange->arena, str_from(target));
	return exchange;
}

static enum MHD_Result advance(struct http_server *server, struct http_exchange *exchange,
			       struct MHD_Connection *connection, const char *method,
			       const char *piece, size_t *piece_len)
{
	if (!exchange->started) {
		begin(server, exchange, connection, method);
		if ((exchange->error_status || exchange->answered) &&
		    must_respond_early(connection)) {
			exchange->is_unread = true;
			return respond(server, exchange, connection);
		}
		if (exchange->stream)
			extend_deadline(server, exchange, slot_of(connection));
		return MHD_YES;
	}
	if (*piece_len) {
		bool is_going_on = receive_piece(server, exchange, (str){ piece, *piece_len });

		*piece_len = 0;
		if (exchange->stream)
			extend_deadline(server, exchange, slot_of(connection));
		return is_going_on ? MHD_YES : MHD_NO;
	}
	return respond(server, exchange, connection);
}

/* Called after the headers, then with each piece of the body, then once without a piece. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *piece,
				  size_t *piece_len, void **state)
{
	struct http_exchange *exchange = *state;
	enum MHD_Result result;

	(void)url;
	(void)version;
	liveness_begin(REQUEST_THREAD);
	liveness_step(exchange->route ? exchange->route->path : NULL);
	result = advance(cls, exchange, connection, method, piece, piece_len);
	liveness_end();
	return result;
}

/*
 * A client that sends its whole body before it reads would never see a response that was sent
 * early: when a socket with unread bytes is closed, the system resets the connection, which
 * discards the response. libmicrohttpd has shut down the sending half, and closes the socket after
 * on_completed().
 */
static void discard_body(struct http_server *server, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	http_watch_until(&server->watch, slot_of(connection),
			 clock_monotonic_ns() + HTTP_DISCARD_SECONDS * NS_PER_SECOND);
	if (info && !socket_discard(info->connect_fd, HTTP_DISCARD_MAX, HTTP_DISCARD_PAUSE_MS))
		metric_add(&http_unread_bodies_total, 1);
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode why)
{
	struct http_server *server = cls;
	struct http_exchange *exchange = *state;

	(void)why;
	http_watch_phase(&server->watch, slot_of(connection), HTTP_IDLE);
	if (!exchange)
		return;
	if (exchange->stream) {
		liveness_begin(REQUEST_THREAD);
		liveness_step(exchange->route->path);
		exchange->stream->end(service_of(server, exchange), &exchange->request);
		liveness_end();
	}

	http_body_free(&exchange->body);

	struct arena arena = exchange->arena; /* the exchange itself is in it */
	uint64_t memory_counted = exchange->response.memory_counted;
	bool is_unread = exchange->is_unread;

	arena_free(&arena);
	if (memory_counted && server->options.freed)
		server->options.freed(server->options.service, memory_counted);
	*state = NULL;
	if (is_unread)
		discard_body(server, connection);
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct http_server *server = cls;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		*context = info ? http_watch_acquire(&server->watch, info->connect_fd) : NULL;
	} else {
		http_watch_release(&server->watch, *context);
		*context = NULL;
	}
}

bool http_start(struct http_server *server, const struct http_options *options, struct err *err)
{
	AUTO_FD listener = -1;
	unsigned int connections = options->connections ? options->connections : HTTP_CONNECTIONS;

	unsigned int percent = options->share_percent ? options->share_percent : 100;
	size_t share = ((size_t)connections * percent + 99) / 100;

	if (!socket_listen(options->address, &listener, &server->port, err))
		return false;
	server->options = *options;
	http_metrics_routes(options->routes, options->route_count);
	if (!http_watch_start(
		    &server->watch, connections, share,
		    options->receive_ms ? options->receive_ms : HTTP_REQUEST_SECONDS * 1000,
		    options->send_ms ? options->send_ms : HTTP_RESPONSE_SECONDS * 1000, err))
		return false;
	server->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
			MHD_USE_ITC,
		0, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, listener,
		MHD_OPTION_CONNECTION_LIMIT,
		connections + HTTP_RESERVED_CONNECTIONS + HTTP_EXCESS_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY_MAX,
		MHD_OPTION_URI_LOG_CALLBACK, receive_target, server, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
		MHD_OPTION_END);
	if (!server->daemon) {
		http_watch_stop(&server->watch);
		return err_set(err, ERR_IO, "start the HTTP server on %s", options->address);
	}
	listener = -1; /* now owned by the library */
	return true;
}

void http_stop(struct http_server *server)
{
	if (!server->daemon)
		return;

	AUTO_FD listener = MHD_quiesce_daemon(server->daemon);
	(void)listener; /* closed at the end of the scope */

	if (!http_watch_drain(&server->watch, DRAIN_MS)) {
		http_watch_cancel_all(&server->watch);
		if (!http_watch_drain(&server->watch, CANCEL_MS))
			log_warn("requests did not end before the shutdown");
	}
	MHD_stop_daemon(server->daemon);
	http_watch_stop(&server->watch);
	server->daemon = NULL;
}

str http_query(const struct http_request *req, const char *name)
{
	for (size_t i = 0; i < req->param_count; i++)
		if (str_eq(req->params[i].name, str_from(name)))
			return req->params[i].value;
	return (str){ 0 };
}

str http_header(const struct http_request *req, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < req->header_count; i++) {
		str own = req->headers[i].name;

		if (own.len == len && strncasecmp(own.ptr, name, len) == 0)
			return req->headers[i].value;
	}
	return (str){ 0 };
}
