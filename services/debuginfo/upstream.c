// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/upstream.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "client/fetch.h"
#include "client/shown_url.h"
#include "debuginfo/file_write.h"
#include "debuginfo/replacement.h"
#include "debuginfo/verify.h"
#include "server/metrics/metrics.h"

#include <inttypes.h>

enum { POLL_INTERVAL_MS = 50, STALL_MS = 30000 };

#define UPSTREAM_OUTCOMES(ROW)          \
	ROW(FETCHED, "fetched")         \
	ROW(ABSENT, "absent")           \
	ROW(FAILED, "failed")           \
	ROW(WRONG, "wrong")             \
	ROW(NO_BETTER, "no_better")     \
	ROW(CONTRADICTS, "contradicts") \
	ROW(REMEMBERED, "cached")       \
	ROW(BUSY, "busy")               \
	ROW(IN_CIRCLES, "forwarding_loop")

enum upstream_outcome { UPSTREAM_OUTCOMES(NAMED_CONSTANT) OUTCOMES };
static const char *const outcome_names[OUTCOMES] = { UPSTREAM_OUTCOMES(NAMED_TEXT) };

#define UPSTREAM_METRICS(ROW)                                                        \
	ROW(queries, METRIC_COUNTER, "decima_debuginfo_upstream_total",              \
	    "Queries to upstream servers, by outcome.",                              \
	    METRIC_LABEL("outcome", outcome_names, OUTCOMES))                        \
	ROW(bytes, METRIC_COUNTER, "decima_debuginfo_upstream_bytes_total",          \
	    "Bytes received from upstream servers.")                                 \
	ROW(fetches, METRIC_GAUGE, "decima_debuginfo_upstream_fetches",              \
	    "Downloads from upstream servers in progress.")                          \
	ROW(waiters, METRIC_GAUGE, "decima_debuginfo_upstream_waiters",              \
	    "Requests waiting for a download from an upstream server.")              \
	ROW(seconds, METRIC_HISTOGRAM, "decima_debuginfo_upstream_duration_seconds", \
	    "Time of one query to an upstream server, including the download.", METRIC_IN_SECONDS)

METRICS(upstream_metrics, UPSTREAM_METRICS);

bool upstream_open(struct upstream *upstream, const struct upstream_options *options,
		   struct files *files, struct err *err)
{
	*upstream = (struct upstream){ .options = *options, .files = files };
	if (!server_list_parse(&upstream->servers, options->servers, err))
		return false;
	misses_init(&upstream->misses);
	return true;
}

void upstream_close(struct upstream *upstream)
{
	misses_done(&upstream->misses);
	server_list_done(&upstream->servers);
}

static void escape(struct buf *out, str path)
{
	for (size_t i = 0; i < path.len; i++) {
		unsigned char c = (unsigned char)path.ptr[i];

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		    (c && strchr("/-._~", c)))
			buf_u8(out, c);
		else
			buf_format(out, "%%%02X", c);
	}
}

static bool on_piece(void *self, str piece, struct err *err)
{
	metric_add(&bytes, piece.len);
	return file_write_add(self, piece, err);
}

/* Query one server. FETCHED: the file is in `write`. */
static enum upstream_outcome query_server(struct upstream *upstream,
					  const struct upstream_request *request,
					  const char *server, struct file_write *write,
					  struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct buf url = { .arena = &arena };
	const char *hops = str_z(
		&arena, str_format(&arena, "X-Forwarded-For: " STR_FMT "%sdecima-%s",
				   STR_ARG(request->forwarded), request->forwarded.len ? ", " : "",
				   upstream->files->name));
	struct fetch fetch = { .headers = &hops,
			       .header_count = 1,
			       .timeout_ms = upstream->options.timeout_ns / NS_PER_MS,
			       .stall_ms = STALL_MS,
			       .body_max = upstream->options.max_bytes,
			       .on_body = on_piece,
			       .cancel = upstream->options.cancel,
			       .self = write };
	int status = 0;

	buf_format(&url, "%s/buildid/%s/", server, request->key.id.text);
	escape(&url, request->path);
	buf_u8(&url, 0);
	fetch.url = url.ptr;
	if (!file_write_restart(write, err) || !fetch_get(&fetch, &status, err))
		return FAILED;
	if (status == 404)
		return ABSENT;
	if (status != 200) {
		err_set(err, ERR_IO, STR_FMT ": status %d",
			STR_ARG(shown_url(str_from(fetch.url), url.arena)), status);
		return FAILED;
	}
	return FETCHED;
}

/* Verify the fetched file. WRONG: malformed, or another build id. NO_BETTER: the stored file is as
 * good. CONTRADICTS: it is of another build. */
static enum upstream_outcome check_file(const struct upstream *upstream,
					const struct upstream_request *request,
					const struct file_write *write, struct err *err)
{
	struct debug_contents fetched;

	if (!request->is_elf)
		return FETCHED;
	if (!verify_file(write->fd, &request->key.id, false, &fetched, err))
		return WRONG;

	struct debug_claim claim = { .rank = fetched.rank, .is_trusted = true };

	switch (replacement_of_file(upstream->files, &request->key, write->fd, claim, err)) {
	case REPLACEMENT_BETTER:
		return FETCHED;
	case REPLACEMENT_CONTRADICTS:
		return CONTRADICTS;
	case REPLACEMENT_NO_BETTER:
	case REPLACEMENT_COUNT:
		break;
	}
	return NO_BETTER;
}

static enum upstream_outcome query_and_check(struct upstream *upstream,
					     const struct upstream_request *request,
					     const char *server, struct file_write *write)
{
	uint64_t began_ns = clock_monotonic_ns();
	struct err err = { 0 };
	enum upstream_outcome outcome = query_server(upstream, request, server, write, &err);

	metric_observe(&seconds, clock_monotonic_ns() - began_ns);

	if (outcome == FETCHED)
		outcome = check_file(upstream, request, write, &err);
	metric_add_at(&queries, outcome, 1);
	if (outcome == FAILED || outcome == WRONG || outcome == CONTRADICTS)
		log_warn("no usable file from upstream server", "server=%s outcome=%s error=\"%s\"",
			 server, outcome_names[outcome], err.msg);
	return outcome;
}

/* Query one server after the other. The caller holds the write lock. */
static enum upstream_result fetch_file(struct upstream *upstream,
				       const struct upstream_request *request,
				       struct file_write *write, str key, struct err *why)
{
	bool failed = false;
	uint64_t generation;

	for (size_t i = 0; i < upstream->servers.count; i++) {
		enum upstream_outcome outcome =
			query_and_check(upstream, request, upstream->servers.urls[i], write);

		write->is_trusted = write->is_asked_for = true;
		if (outcome == FETCHED && file_write_commit(write, &generation, why)) {
			log_info("fetched from upstream", "build_id=%s name=%s server=" STR_FMT,
				 request->key.id.text, request->key.name,
				 STR_ARG(upstream->servers.shown[i]));
			return UPSTREAM_STORED;
		}
		if (outcome == FETCHED)
			return UPSTREAM_UNAVAILABLE; /* our own disk failed: not a miss */
		failed |= outcome == FAILED;
	}
	file_write_abandon(write);
	misses_put(&upstream->misses, key, failed ? MISS_FAILED : MISS_ABSENT,
		   failed ? FAILURE_SECONDS * NS_PER_SECOND : upstream->options.missing_ns);
	if (!failed)
		return UPSTREAM_ABSENT;
	err_set(why, ERR_IO, "an upstream server did not respond; try again later");
	return UPSTREAM_UNAVAILABLE;
}

/* Look into the store and the negative cache. False: a server must be queried. */
static bool lookup_known(struct upstream *upstream, const struct upstream_request *request, str key,
			 enum upstream_result *ret_result, struct err *why)
{
	enum miss miss;

	if (files_generation(upstream->files, &request->key) > request->newer_than) {
		*ret_result = UPSTREAM_STORED;
		return true;
	}
	miss = misses_get(&upstream->misses, key);
	if (miss == MISS_NONE)
		return false;
	metric_add_at(&queries, REMEMBERED, 1);
	*ret_result = miss == MISS_ABSENT ? UPSTREAM_ABSENT : UPSTREAM_UNAVAILABLE;
	if (miss == MISS_FAILED)
		err_set(why, ERR_IO, "an upstream server did not respond a moment ago");
	return true;
}

/* Acquire one of the FETCHES_MAX download slots and the file's lock, then download. False: the
 * slots are in use, or another writer has the lock: retry later. */
static bool try_fetch(struct upstream *upstream, const struct upstream_request *request, str key,
		      enum upstream_result *ret_result, struct err *why)
{
	struct file_write write = { 0 };
	bool is_known = false;

	struct err err = { 0 };

	if (++upstream->running > FETCHES_MAX) {
		upstream->running--;
		return false;
	}
	metric_set(&fetches, upstream->running);
	if (!file_write_begin(&write, upstream->files, &request->key, &err)) {
		*ret_result = UPSTREAM_UNAVAILABLE;
		is_known = err.code != ERR_BUSY; /* another writer has the lock */
		*why = err;
	} else if (lookup_known(upstream, request, key, ret_result, why)) {
		/* The previous owner of the lock stored the file, or recorded a miss. */
		file_write_abandon(&write);
		is_known = true;
	} else {
		*ret_result = fetch_file(upstream, request, &write, key, why);
		is_known = true;
	}
	upstream->running--;
	metric_set(&fetches, upstream->running);
	return is_known;
}

/* Servers may be configured in a loop. Then our own query returns to us, and would wait for
 * itself. */
static bool is_forwarding_loop(const struct upstream *upstream, str forwarded)
{
	unsigned int count = forwarded.len > 0;

	for (size_t i = 0; i < forwarded.len; i++)
		count += forwarded.ptr[i] == ',';
	return count >= FORWARDED_HOPS_MAX ||
	       str_find(forwarded, str_from(upstream->files->name)) != SIZE_MAX;
}

static enum upstream_result wait_for(struct upstream *upstream,
				     const struct upstream_request *request, str key,
				     struct err *why)
{
	uint64_t deadline = clock_monotonic_ns() + FETCH_WAIT_SECONDS * NS_PER_SECOND;
	enum upstream_result result;

	while (!lookup_known(upstream, request, key, &result, why) &&
	       !try_fetch(upstream, request, key, &result, why)) {
		bool may_wait = !cancel_requested(request->client_gone) &&
				cancel_wait(upstream->options.cancel, POLL_INTERVAL_MS);

		if (may_wait && clock_monotonic_ns() < deadline)
			continue;
		metric_add_at(&queries, BUSY, 1);
		err_set(why, ERR_IO, "the file was not fetched in time; try again later");
		return UPSTREAM_UNAVAILABLE;
	}
	return result;
}

enum upstream_result upstream_get(struct upstream *upstream, const struct upstream_request *request,
				  struct err *why)
{
	enum upstream_result result = UPSTREAM_UNAVAILABLE;
	AUTO_ARENA arena = { 0 };
	str key = str_format(&arena, "%s/%s", request->key.id.text, request->key.name);

	if (!upstream->servers.count)
		return UPSTREAM_ABSENT;
	if (is_forwarding_loop(upstream, request->forwarded)) {
		metric_add_at(&queries, IN_CIRCLES, 1);
		return UPSTREAM_ABSENT;
	}
	if (++upstream->waiting <= FETCH_WAITERS_MAX) {
		metric_set(&waiters, upstream->waiting);
		result = wait_for(upstream, request, key, why);
	} else {
		metric_add_at(&queries, BUSY, 1);
		err_set(why, ERR_IO,
			"too many requests wait for upstream servers; try again later");
	}
	upstream->waiting--;
	metric_set(&waiters, upstream->waiting);
	return result;
}
