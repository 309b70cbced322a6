// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/handler_buildid.h"

#include "base/clock.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/request_path.h"
#include "debuginfo/verify.h"
#include "server/json/json_error.h"
#include "server/metrics/metrics.h"

#include <inttypes.h>

#define BUILDID_OUTCOMES(ROW)       \
	ROW(STORED, "stored")       \
	ROW(FETCHED, "fetched")     \
	ROW(ABSENT, "absent")       \
	ROW(MALFORMED, "malformed") \
	ROW(UNAVAILABLE, "unavailable")

enum buildid_outcome { BUILDID_OUTCOMES(NAMED_CONSTANT) OUTCOMES };
static const char *const outcome_names[OUTCOMES] = { BUILDID_OUTCOMES(NAMED_TEXT) };

#define HANDLER_BUILDID_METRICS(ROW)                                                            \
	ROW(responses, METRIC_COUNTER, "decima_debuginfo_responses_total",                      \
	    "Requests of debuginfod clients, by outcome: stored files were served from the "    \
	    "store, fetched files were first fetched from upstream.",                           \
	    METRIC_LABEL("outcome", outcome_names, OUTCOMES))                                   \
	ROW(seconds, METRIC_HISTOGRAM, "decima_debuginfo_response_duration_seconds",            \
	    "Time until the response to a debuginfod client started, including downloads from " \
	    "upstream servers.",                                                                \
	    METRIC_IN_SECONDS)

METRICS(handler_buildid_metrics, HANDLER_BUILDID_METRICS);

/* A request while it is handled. */
struct buildid_request {
	struct handler_buildid *handler;
	const struct http_request *req;
	struct request_path path;
	bool is_fetched, is_unavailable; /* any upstream result so far */
	struct err why;
};

/* Fetch a file from upstream into the store. False: it was not fetched. */
static bool fetch(struct buildid_request *request, const struct file_key *key, uint64_t newer_than)
{
	bool is_source = request->path.kind == REQUEST_SOURCE;
	str path = is_source ? str_format(request->req->arena, "source" STR_FMT,
					  STR_ARG(request->path.name))
			     : str_from(key->name);
	struct upstream_request missing = { .key = *key,
					    .path = path,
					    .is_elf = !is_source,
					    .newer_than = newer_than,
					    .client_gone = request->req->gone,
					    .forwarded =
						    http_header(request->req, "X-Forwarded-For") };
	enum upstream_result result =
		upstream_get(request->handler->upstream, &missing, &request->why);

	request->is_fetched |= result == UPSTREAM_STORED;
	request->is_unavailable |= result == UPSTREAM_UNAVAILABLE;
	return result == UPSTREAM_STORED;
}

static bool find(struct buildid_request *request, const struct file_key *key,
		 struct stored_file *ret_file)
{
	return files_find(request->handler->files, key, ret_file) ||
	       (fetch(request, key, 0) && files_find(request->handler->files, key, ret_file));
}

static bool find_debuginfo(struct buildid_request *request, struct stored_file *ret_file)
{
	struct file_key key = file_key_debuginfo(&request->path.id);
	struct stored_file better;

	if (!files_find(request->handler->files, &key, ret_file))
		return find(request, &key, ret_file);
	if (request->handler->upstream->servers.count &&
	    (verified_contents(ret_file->fd).rank < DEBUG_DWARF || !ret_file->is_trusted) &&
	    fetch(request, &key, ret_file->generation) &&
	    files_find(request->handler->files, &key, &better)) {
		close(ret_file->fd);
		*ret_file = better;
	}
	request->is_unavailable = false; /* the stored file can be served */
	return true;
}

/* An uploaded debug file that contains the code can be served as the executable; if it is not
 * trusted, only if no other server has the executable. */
static bool find_executable(struct buildid_request *request, bool may_fetch,
			    struct stored_file *ret_file)
{
	struct file_key uploaded = file_key_debuginfo(&request->path.id);
	struct file_key own = file_key_executable(&request->path.id);

	bool is_uploaded = files_find(request->handler->files, &uploaded, ret_file);
	struct stored_file better;

	if (is_uploaded && !verified_contents(ret_file->fd).has_code) {
		close(ret_file->fd);
		is_uploaded = false;
	}
	if (is_uploaded && ret_file->is_trusted)
		return true;
	if (may_fetch ? find(request, &own, &better)
		      : files_find(request->handler->files, &own, &better)) {
		if (is_uploaded)
			close(ret_file->fd);
		*ret_file = better;
		return true;
	}
	request->is_unavailable &= !is_uploaded; /* the uploaded file can be served */
	return is_uploaded;
}

enum section_lookup { SECTION_FOUND, SECTION_EMPTY, SECTION_ABSENT };

static enum section_lookup find_section(struct buildid_request *request,
					const struct stored_file *file, struct http_file *ret_range)
{
	struct elf_sections sections;
	const struct elf_section *section;
	struct err err;

	if (!elf_sections_read(file->fd, request->req->arena, &sections, &err))
		return SECTION_ABSENT;
	section = elf_sections_find(&sections, request->path.name);
	if (!section)
		return SECTION_ABSENT;
	if (!elf_section_has_bytes(section))
		return SECTION_EMPTY;
	*ret_range = (struct http_file){ .fd = file->fd,
					 .offset = section->offset,
					 .len = section->size };
	return SECTION_FOUND;
}

/* Look for the section in the debug file, then in the executable. The executable is fetched only if
 * there is no debug file, or if the debug file has the section without its bytes. */
static bool open_section(struct buildid_request *request, struct http_file *ret_range)
{
	struct stored_file file;
	bool has_debuginfo = find_debuginfo(request, &file);
	enum section_lookup found = SECTION_EMPTY;

	if (has_debuginfo) {
		found = find_section(request, &file, ret_range);
		if (found == SECTION_FOUND)
			return true;
		close(file.fd);
	}
	if (!find_executable(request, found == SECTION_EMPTY, &file))
		return false;
	if (find_section(request, &file, ret_range) == SECTION_FOUND)
		return true;
	close(file.fd);
	return false;
}

static bool open_file(struct buildid_request *request, struct http_file *ret_range,
		      uint64_t *ret_generation)
{
	const struct request_path *path = &request->path;
	struct file_key source = file_key_source(&path->id, path->name);
	struct stored_file file = { .fd = -1 };
	bool found = false;

	switch (path->kind) {
	case REQUEST_DEBUGINFO:
		found = find_debuginfo(request, &file);
		break;
	case REQUEST_EXECUTABLE:
		found = find_executable(request, true, &file);
		break;
	case REQUEST_SOURCE:
		found = find(request, &source, &file);
		break;
	case REQUEST_SECTION:
		return open_section(request, ret_range);
	case REQUEST_KIND_COUNT:
		break;
	}
	if (!found)
		return false;
	*ret_range = (struct http_file){ .fd = file.fd, .len = file.size };
	*ret_generation = file.generation;
	return true;
}

static void respond(struct buildid_request *request, const struct http_file *range,
		    uint64_t generation, struct http_response *res)
{
	struct arena *arena = request->req->arena;
	struct http_file *file = arena_new(arena, struct http_file);
	struct http_param *headers = arena_array(arena, struct http_param, 2);

	*file = *range;
	headers[0] = (struct http_param){ STR("X-DEBUGINFOD-SIZE"),
					  str_format(arena, "%" PRIu64, range->len) };
	headers[1] = (struct http_param){ STR("X-Decima-Generation"),
					  str_format(arena, "%" PRIu64, generation) };
	res->content_type = "application/octet-stream";
	res->file = file;
	res->headers = headers;
	res->header_count = generation ? 2 : 1;
}

void handler_buildid(void *service, const struct http_request *req, struct http_response *res)
{
	struct buildid_request request = { .handler = service, .req = req };
	struct http_file range;
	uint64_t generation = 0, began_ns = clock_monotonic_ns();
	enum buildid_outcome outcome;
	struct err err = { 0 };

	if (!request_path_parse(req->below, &request.path, &err)) {
		outcome = err.code == ERR_NOT_FOUND ? ABSENT : MALFORMED;
	} else if (open_file(&request, &range, &generation)) {
		outcome = request.is_fetched ? FETCHED : STORED;
		files_mark_asked(range.fd, req->client);
		respond(&request, &range, generation, res);
	} else if (request.is_unavailable) {
		outcome = UNAVAILABLE;
		err = request.why;
		err.code = ERR_IO; /* whatever the cause: the file may exist */
	} else {
		outcome = ABSENT;
		err_set(&err, ERR_NOT_FOUND, "no such file");
	}
	if (err.code != ERR_NONE)
		json_error_respond(error_type_of(err.code), err.msg, RETRY_AFTER_SECONDS,
				   req->arena, res);
	metric_add_at(&responses, outcome, 1);
	metric_observe(&seconds, clock_monotonic_ns() - began_ns);
}
