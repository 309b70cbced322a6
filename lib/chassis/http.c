// SPDX-License-Identifier: Apache-2.0
#include "http.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/vec.h"
#include "chassis/http_metrics.h"
#include "chassis/limits.h"
#include "chassis/socket.h"

#include <microhttpd.h>
#include <stdio.h>
#include <strings.h>

/* At a stop: what is under way may go on for so long; then handlers are told to end. */
enum { DRAIN_MS = 2000, ABANDON_MS = 3000 };

struct metric *const http_metrics[HTTP_METRICS] = { &http_requests_total, &http_timeouts_total,
						    &http_refused_total, &http_evictions_total,
						    &http_connections };

/* A request while it arrives and is answered. Lives in its own arena. */
struct exchange {
	struct arena arena;
	str target; /* path and query, as sent */
	bool started;
	struct http_request request;
	const struct http_route *route;
	struct buf body;
	size_t taken, drained; /* bytes of the body, and of one that is not wanted any more */
	const struct http_stream *stream; /* the route's, once it has begun */
	uint64_t stream_began_ns;
	bool answered; /* by the stream, before the body's end: in response */
	struct http_response response;
	int refused; /* a status, or 0 */
	const char *why;
	struct http_param allow;
};

static bool path_matches(const struct http_route *route, str path)
{
	str own = str_from(route->path);
	bool takes_below = own.len > 1 && str_ends_with(own, STR("/"));

	return str_eq(path, own) || (takes_below && str_starts_with(path, own));
}

static bool method_matches(const struct http_route *route, str method)
{
	str own = str_from(route->method);

	return str_eq(method, own) || (str_eq(method, STR("HEAD")) && str_eq(own, STR("GET")));
}

static void refuse(struct exchange *exchange, int status, const char *why)
{
	exchange->refused = status;
	exchange->why = why;
}

/* Sets route, or why there is none. */
static void find_route(const struct http_server *server, struct exchange *exchange)
{
	struct http_request *req = &exchange->request;
	struct buf allow = { .arena = &exchange->arena };

	for (size_t i = 0; i < server->options.route_count; i++) {
		const struct http_route *route = &server->options.routes[i];

		if (!path_matches(route, req->path))
			continue;
		if (method_matches(route, req->method)) {
			exchange->route = route;
			req->below = str_skip(req->path, strlen(route->path));
			return;
		}
		buf_format(&allow, "%s%s", allow.len ? ", " : "", route->method);
	}
	if (allow.len == 0) {
		refuse(exchange, MHD_HTTP_NOT_FOUND, "there is nothing at this path");
		return;
	}
	exchange->allow = (struct http_param){ STR("Allow"), buf_bytes(&allow) };
	refuse(exchange, MHD_HTTP_METHOD_NOT_ALLOWED,
	       "this path does not know the method; see the Allow header");
}

static void parse_target(struct exchange *exchange)
{
	struct http_request *req = &exchange->request;
	str query = exchange->target;
	str path = str_cut(&query, '?');
	struct http_param *params;
	struct err err;

	req->path = path;
	if (exchange->target.len > HTTP_URL_MAX) {
		refuse(exchange, MHD_HTTP_URI_TOO_LONG, "the URL is too long");
	} else if (!url_decode(path, false, &exchange->arena, &req->path, &err) ||
		   !url_query_parse(query, &exchange->arena, &params, &req->param_count, &err)) {
		const char *why = str_z(&exchange->arena, str_from(err.msg));

		refuse(exchange, MHD_HTTP_BAD_REQUEST, why);
	} else {
		req->params = params;
	}
}

static void check_body_length(struct exchange *exchange, struct MHD_Connection *connection)
{
	const char *told = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_CONTENT_LENGTH);
	size_t max = exchange->route ? exchange->route->body_max : 0;
	uint64_t len;

	if (!told || exchange->refused)
		return;
	if (!str_to_u64(str_from(told), &len) || len > max) {
		refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long");
	}
}

/* Whether so much is still to come that the answer must be given before it, and the connection
 * ended: a client that is sending sees an answer only if what it sends is read. */
static bool must_answer_early(struct MHD_Connection *connection)
{
	const char *told = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_CONTENT_LENGTH);
	const char *expects =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT);
	uint64_t len;

	return expects || (told && (!str_to_u64(str_from(told), &len) || len > HTTP_DRAIN_MAX));
}

struct headers {
	struct arena *arena;
	VEC(struct http_param) list;
};

static enum MHD_Result keep_header(void *self, enum MHD_ValueKind kind, const char *name,
				   size_t name_len, const char *value, size_t value_len)
{
	struct headers *headers = self;

	(void)kind;
	*vec_push(headers->arena, &headers->list) =
		(struct http_param){ str_copy(headers->arena, (str){ name, name_len }),
				     str_copy(headers->arena, (str){ value, value_len }) };
	return MHD_YES;
}

static void keep_headers(struct exchange *exchange, struct MHD_Connection *connection)
{
	struct headers headers = { .arena = &exchange->arena };

	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, keep_header, &headers);
	exchange->request.headers = headers.list.items;
	exchange->request.header_count = headers.list.len;
}

static void *service_of(const struct http_server *server, const struct exchange *exchange)
{
	void *self = exchange->route ? exchange->route->self : NULL;

	return self ? self : server->options.service;
}

static void begin_stream(struct http_server *server, struct exchange *exchange)
{
	const struct http_stream *stream = exchange->route ? exchange->route->stream : NULL;

	if (exchange->refused || !stream)
		return;
	exchange->stream_began_ns = clock_monotonic_ns();
	if (stream->begin(service_of(server, exchange), &exchange->request, &exchange->response))
		exchange->stream = stream;
	else
		exchange->answered = true;
}

/* Its deadlines are other than a request's: the body may be long, but must keep coming. */
static void await_piece(struct http_server *server, const struct exchange *exchange,
			struct http_slot *slot)
{
	const struct http_stream *stream = exchange->stream;
	uint64_t whole = exchange->stream_began_ns + stream->whole_ms * NS_PER_MS;
	uint64_t piece = clock_monotonic_ns() + stream->stall_ms * NS_PER_MS;

	http_watch_until(&server->watch, slot, whole < piece ? whole : piece);
}

static struct http_slot *slot_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void begin(struct http_server *server, struct exchange *exchange,
		  struct MHD_Connection *connection, const char *method)
{
	exchange->started = true;
	http_watch_begin(&server->watch, slot_of(connection));
	exchange->request.arena = &exchange->arena;
	exchange->request.method = str_copy(&exchange->arena, str_from(method));
	exchange->body.arena = &exchange->arena;
	parse_target(exchange);
	if (!exchange->refused)
		find_route(server, exchange);
	check_body_length(exchange, connection);
	keep_headers(exchange, connection);
	begin_stream(server, exchange);
}

/* False: it has been going on for too long past its limit. */
static bool collect(struct http_server *server, struct exchange *exchange, str piece)
{
	const struct http_route *route = exchange->route;

	if (!exchange->refused && !exchange->answered &&
	    piece.len > (route ? route->body_max : 0) - exchange->taken)
		refuse(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long");
	if (exchange->refused || exchange->answered) {
		exchange->drained += piece.len;
		return exchange->drained <= HTTP_DRAIN_MAX;
	}
	exchange->taken += piece.len;
	if (!exchange->stream)
		buf_str(&exchange->body, piece);
	else if (!exchange->stream->take(service_of(server, exchange), &exchange->request, piece,
					 &exchange->response))
		exchange->answered = true;
	return true;
}

static void make_refusal(const struct http_server *server, struct exchange *exchange,
			 struct http_response *res)
{
	res->status = exchange->refused;
	if (exchange->allow.name.len) {
		res->headers = &exchange->allow;
		res->header_count = 1;
	}
	if (server->options.refuse)
		server->options.refuse(server->options.service, &exchange->request, exchange->why,
				       res);
	else
		res->body = str_format(&exchange->arena, "%s\n", exchange->why);
}

static struct MHD_Response *make_wire(const struct http_response *res)
{
	const struct http_file *file = res->file;

	/* The body lives in the exchange's arena, which goes when the response has been sent. */
	if (!file)
		return MHD_create_response_from_buffer(
			res->body.len, (char *)(uintptr_t)res->body.ptr, MHD_RESPMEM_PERSISTENT);

	struct MHD_Response *wire =
		MHD_create_response_from_fd_at_offset64(file->len, file->fd, file->offset);

	if (!wire)
		close(file->fd);
	return wire;
}

static enum MHD_Result queue(struct exchange *exchange, struct MHD_Connection *connection,
			     const struct http_response *res)
{
	struct MHD_Response *wire = make_wire(res);

	if (!wire)
		return MHD_NO;
	MHD_add_response_header(wire, MHD_HTTP_HEADER_CONTENT_TYPE, res->content_type);
	for (size_t i = 0; i < res->header_count; i++)
		MHD_add_response_header(wire, str_z(&exchange->arena, res->headers[i].name),
					str_z(&exchange->arena, res->headers[i].value));

	enum MHD_Result queued = MHD_queue_response(connection, (unsigned int)res->status, wire);

	MHD_destroy_response(wire);
	return queued;
}

static void handle(struct http_server *server, struct exchange *exchange, struct http_slot *slot)
{
	struct stop gone = { .fd = -1 };
	struct err err;

	if (!stop_open(&gone, &err))
		log_debug("a client's leaving will be seen late", "error=\"%s\"", err.msg);
	exchange->request.gone = &gone;
	http_watch_handling(&server->watch, slot, &gone);
	exchange->route->handle(service_of(server, exchange), &exchange->request,
				&exchange->response);
	/* Nobody asks any more once the phase is another. */
	http_watch_phase(&server->watch, slot, HTTP_SENDING);
	exchange->request.gone = NULL;
	stop_close(&gone);
}

static enum MHD_Result respond(struct http_server *server, struct exchange *exchange,
			       struct MHD_Connection *connection)
{
	struct http_response *res = &exchange->response;
	struct http_slot *slot = slot_of(connection);
	uint64_t began = clock_monotonic_ns(), len;

	exchange->request.body = buf_bytes(&exchange->body);
	if (exchange->refused)
		make_refusal(server, exchange, res);
	else if (!exchange->answered)
		handle(server, exchange, slot);
	len = res->file ? res->file->len : res->body.len;
	http_metrics_count(exchange->route, res->status);
	log_debug("request answered",
		  "method=" STR_FMT " path=\"" STR_FMT "\" status=%d bytes=%ju took_us=%ju",
		  STR_ARG(exchange->request.method), STR_ARG(exchange->request.path), res->status,
		  (uintmax_t)len, (uintmax_t)((clock_monotonic_ns() - began) / 1000));
	http_watch_sending(&server->watch, slot, len);
	return queue(exchange, connection, res);
}

/* First of all, with the request line as it was sent; what it returns is `seen` further on. */
static void *receive_target(void *cls, const char *target, struct MHD_Connection *connection)
{
	struct arena arena = { 0 };
	struct exchange *exchange = arena_new(&arena, struct exchange);

	(void)cls;
	(void)connection;
	exchange->arena = arena;
	exchange->response = (struct http_response){ .status = MHD_HTTP_OK,
						     .content_type = "text/plain; charset=utf-8" };
	exchange->target = str_copy(&exchange->arena, str_from(target));
	return exchange;
}

/* Called with the headers, then with each piece of the body, then once with no piece left. */
static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *piece,
			      size_t *piece_len, void **seen)
{
	struct http_server *server = cls;
	struct exchange *exchange = *seen;

	(void)url;
	(void)version;
	if (!exchange->started) {
		begin(server, exchange, connection, method);
		if ((exchange->refused || exchange->answered) && must_answer_early(connection))
			return respond(server, exchange, connection);
		if (exchange->stream)
			await_piece(server, exchange, slot_of(connection));
		return MHD_YES;
	}
	if (*piece_len) {
		bool going_on = collect(server, exchange, (str){ piece, *piece_len });

		*piece_len = 0;
		if (exchange->stream)
			await_piece(server, exchange, slot_of(connection));
		return going_on ? MHD_YES : MHD_NO;
	}
	return respond(server, exchange, connection);
}

static void finish(void *cls, struct MHD_Connection *connection, void **seen,
		   enum MHD_RequestTerminationCode why)
{
	struct http_server *server = cls;
	struct exchange *exchange = *seen;

	(void)why;
	http_watch_phase(&server->watch, slot_of(connection), HTTP_IDLE);
	if (!exchange)
		return;
	if (exchange->stream)
		exchange->stream->end(service_of(server, exchange), &exchange->request);

	struct arena arena = exchange->arena; /* the exchange itself lives in it */

	arena_free(&arena);
	*seen = NULL;
}

static void notice(void *cls, struct MHD_Connection *connection, void **context,
		   enum MHD_ConnectionNotificationCode what)
{
	struct http_server *server = cls;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		*context = info ? http_watch_take(&server->watch, info->connect_fd) : NULL;
	} else {
		http_watch_give(&server->watch, *context);
		*context = NULL;
	}
}

bool http_start(struct http_server *server, const struct http_options *options, struct err *err)
{
	AUTO_FD listener = -1;
	unsigned int connections = options->connections ? options->connections : HTTP_CONNECTIONS;

	if (!socket_listen(options->address, &listener, &server->port, err))
		return false;
	server->options = *options;
	http_metrics_routes(options->routes, options->route_count);
	http_watch_start(&server->watch, connections,
			 options->receive_ms ? options->receive_ms : HTTP_REQUEST_SECONDS * 1000,
			 options->send_ms ? options->send_ms : HTTP_RESPONSE_SECONDS * 1000);
	server->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
			MHD_USE_ITC,
		0, NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET, listener,
		MHD_OPTION_CONNECTION_LIMIT, connections + HTTP_REFUSED_AT_ONCE,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY_MAX,
		MHD_OPTION_URI_LOG_CALLBACK, receive_target, NULL, MHD_OPTION_NOTIFY_COMPLETED,
		finish, server, MHD_OPTION_NOTIFY_CONNECTION, notice, server, MHD_OPTION_END);
	if (!server->daemon) {
		http_watch_stop(&server->watch);
		return err_set(err, ERR_IO, "start the HTTP server on %s", options->address);
	}
	listener = -1; /* the library's now */
	return true;
}

void http_stop(struct http_server *server)
{
	if (!server->daemon)
		return;

	AUTO_FD listener = MHD_quiesce_daemon(server->daemon);
	(void)listener; /* only to close it */

	if (!http_watch_drain(&server->watch, DRAIN_MS)) {
		http_watch_abandon(&server->watch);
		if (!http_watch_drain(&server->watch, ABANDON_MS))
			log_warn("requests were still being answered at the stop");
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
