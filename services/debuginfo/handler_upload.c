// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/handler_upload.h"

#include "base/log.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/file_write.h"
#include "debuginfo/request_path.h"
#include "debuginfo/verify.h"
#include "server/json/json.h"
#include "server/json/json_error.h"
#include "server/metrics/metrics.h"

#include <fcntl.h>
#include <inttypes.h>

#define UPLOAD_OUTCOMES(ROW)              \
	ROW(STORED, "stored")             \
	ROW(REPLACED, "replaced")         \
	ROW(HAVE_IT, "already_stored")    \
	ROW(IN_PROGRESS, "in_progress")   \
	ROW(BUSY, "busy")                 \
	ROW(UNAUTHORIZED, "unauthorized") \
	ROW(MALFORMED, "malformed")       \
	ROW(BROKEN_OFF, "aborted")        \
	ROW(FAILED, "failed")

enum handler_upload_outcome { UPLOAD_OUTCOMES(NAMED_CONSTANT) OUTCOMES };
static const char *const outcome_names[OUTCOMES] = { UPLOAD_OUTCOMES(NAMED_TEXT) };

#define HANDLER_UPLOAD_METRICS(ROW)                                                               \
	ROW(uploads, METRIC_COUNTER, "decima_debuginfo_uploads_total",                            \
	    "Upload requests, by outcome. aborted: the upload stalled, the client disconnected, " \
	    "or the body was too long.",                                                          \
	    METRIC_LABEL("outcome", outcome_names, OUTCOMES))                                     \
	ROW(bytes, METRIC_COUNTER, "decima_debuginfo_upload_bytes_total",                         \
	    "Bytes received in the bodies of uploads.")                                           \
	ROW(running, METRIC_GAUGE, "decima_debuginfo_uploads_running", "Uploads in progress.")

METRICS(handler_upload_metrics, HANDLER_UPLOAD_METRICS);

/* An upload in progress: the stream of its request. */
struct incoming_upload {
	struct request_path path;
	struct file_write write;
	bool is_trusted, is_forced;
	size_t magic_len; /* bytes of the ELF magic checked so far */
};

static void reject(const struct http_request *req, struct http_response *res,
		   enum handler_upload_outcome outcome, const char *sentence)
{
	static const struct {
		const char *type;
		int status;
		bool is_retryable;
	} rows[OUTCOMES] = {
		[HAVE_IT] = { "already_stored", 409, false },
		[IN_PROGRESS] = { "in_progress", 409, true },
		[BUSY] = { "unavailable", 503, true },
		[UNAUTHORIZED] = { "unauthorized", 401, false },
		[MALFORMED] = { "bad_data", 400, false },
		[FAILED] = { "unavailable", 503, true },
	};

	metric_add_at(&uploads, outcome, 1);
	res->status = rows[outcome].status;
	if (rows[outcome].is_retryable)
		json_error_retry_after(req->arena, RETRY_AFTER_SECONDS, res);
	json_error(req->arena, rows[outcome].type, sentence, res);
}

/* In constant time: the duration must not reveal how many characters match. */
static bool token_is(const char *token, str candidate)
{
	size_t len = strlen(token);
	unsigned int differ = candidate.len != len;

	for (size_t i = 0; i < len; i++)
		differ |= (unsigned int)(token[i] ^ (i < candidate.len ? candidate.ptr[i] : 0));
	return !differ;
}

static bool check_token(const struct handler_upload *handler, const struct http_request *req,
			struct incoming_upload *upload)
{
	str header = http_header(req, "Authorization");

	if (!*handler->token)
		return true;
	if (!str_starts_with(header, STR("Bearer ")))
		return false;
	upload->is_trusted = token_is(handler->token, str_skip(header, strlen("Bearer ")));
	return upload->is_trusted;
}

static bool check_request(const struct http_request *req, struct incoming_upload *upload,
			  enum debug_rank *ret_rank, struct err *err)
{
	str rank = http_query(req, "rank");
	str force = http_query(req, "force");

	*ret_rank = DEBUG_DWARF;
	if (!request_path_parse(req->below, &upload->path, err))
		return false;
	if (upload->path.kind != REQUEST_DEBUGINFO)
		return err_set(err, ERR_INVALID, "only PUT /buildid/ID/debuginfo is supported");
	if (rank.ptr && !debug_rank_parse(rank, ret_rank))
		return err_set(err, ERR_INVALID,
			       "rank must be one of nothing, dynsym, mini, symtab, go, dwarf");
	upload->is_forced = str_eq(force, STR("true")) || str_eq(force, STR("1"));
	if (upload->is_forced && !upload->is_trusted)
		return err_set(err, ERR_INVALID, "force requires the upload token");
	return true;
}

/* The rank of the stored file; -1: no file is stored. */
static int stored_rank(const struct handler_upload *handler, const struct build_id *id)
{
	struct file_key key = file_key_debuginfo(id);
	struct stored_file stored;

	if (!files_find(handler->files, &key, &stored))
		return -1;

	enum debug_rank rank = verified_contents(stored.fd).rank;

	close(stored.fd);
	return (int)rank;
}

static void leave(struct handler_upload *handler)
{
	metric_set(&running, --handler->running);
}

static bool enter(struct handler_upload *handler)
{
	if (++handler->running > UPLOADS_MAX) {
		leave(handler);
		return false;
	}
	metric_set(&running, handler->running);
	return true;
}

static bool begin(void *service, struct http_request *req, struct http_response *res)
{
	struct handler_upload *handler = service;
	struct incoming_upload *upload = arena_new(req->arena, struct incoming_upload);
	enum debug_rank claimed;
	struct err err = { 0 };

	if (!check_token(handler, req, upload)) {
		reject(req, res, UNAUTHORIZED,
		       "an upload requires the header Authorization: Bearer TOKEN");
		return false;
	}
	if (!check_request(req, upload, &claimed, &err)) {
		reject(req, res, MALFORMED, err.msg);
		return false;
	}
	if (!upload->is_forced && (int)claimed <= stored_rank(handler, &upload->path.id)) {
		reject(req, res, HAVE_IT, "a file that is at least as good is stored already");
		return false;
	}
	if (!enter(handler)) {
		reject(req, res, BUSY, "too many concurrent uploads; try again later");
		return false;
	}

	struct file_key key = file_key_debuginfo(&upload->path.id);

	if (!file_write_begin(&upload->write, handler->files, &key, &err)) {
		leave(handler);
		reject(req, res, err.code == ERR_BUSY ? IN_PROGRESS : FAILED, err.msg);
		return false;
	}
	req->stream = upload;
	return true;
}

/* A file that is not ELF is rejected after its first bytes, before the client sends it all. */
static bool check_magic(struct incoming_upload *upload, str piece)
{
	static const char magic[] = { 0x7f, 'E', 'L', 'F' };

	for (size_t i = 0; i < piece.len && upload->magic_len < sizeof(magic); i++)
		if (piece.ptr[i] != magic[upload->magic_len++])
			return false;
	return true;
}

static bool on_piece(void *service, const struct http_request *req, str piece,
		     struct http_response *res)
{
	struct incoming_upload *upload = req->stream;
	struct err err = { 0 };

	(void)service;
	metric_add(&bytes, piece.len);
	if (check_magic(upload, piece) && file_write_add(&upload->write, piece, &err))
		return true;
	file_write_abandon(&upload->write);
	if (err.code == ERR_NONE) {
		reject(req, res, MALFORMED, "not an ELF file");
		return false;
	}
	log_warn("upload not stored", "build_id=%s error=\"%s\"", upload->path.id.text, err.msg);
	reject(req, res, FAILED, err.msg);
	return false;
}

static void end(void *service, const struct http_request *req)
{
	struct handler_upload *handler = service;
	struct incoming_upload *upload = req->stream;

	if (upload->write.files) {
		metric_add_at(&uploads, BROKEN_OFF, 1);
		log_info("upload broken off", "build_id=%s bytes=%" PRIu64, upload->path.id.text,
			 upload->write.len);
		file_write_abandon(&upload->write);
	}
	leave(handler);
}

static void respond_stored(const struct http_request *req, const struct incoming_upload *upload,
			   bool is_new, uint64_t generation, enum debug_rank rank,
			   struct http_response *res)
{
	struct buf out = { .arena = req->arena };
	struct json json = { .out = &out };

	json_object(&json);
	json_key(&json, STR("status"));
	json_str(&json, STR("success"));
	json_key(&json, STR("data"));
	json_object(&json);
	json_key(&json, STR("build_id"));
	json_str(&json, str_from(upload->path.id.text));
	json_key(&json, STR("generation"));
	json_u64(&json, generation);
	json_key(&json, STR("rank"));
	json_str(&json, str_from(debug_rank_names[rank]));
	json_end_object(&json);
	json_end_object(&json);
	buf_u8(&out, '\n');
	metric_add_at(&uploads, is_new ? STORED : REPLACED, 1);
	res->status = is_new ? 201 : 200;
	res->content_type = "application/json";
	res->body = buf_bytes(&out);
}

void handler_upload_finish(void *service, const struct http_request *req, struct http_response *res)
{
	struct handler_upload *handler = service;
	struct incoming_upload *upload = req->stream;
	struct debug_contents contents;
	int current = stored_rank(handler, &upload->path.id);
	uint64_t generation, len = upload->write.len;
	struct err err = { 0 };

	if (!verify_file(upload->write.fd, &upload->path.id, upload->is_trusted, &contents, &err)) {
		file_write_abandon(&upload->write);
		reject(req, res, MALFORMED, err.msg);
		return;
	}
	if (!upload->is_forced && (int)contents.rank <= current) {
		file_write_abandon(&upload->write);
		reject(req, res, HAVE_IT, "a file that is at least as good is stored already");
		return;
	}
	if (!file_write_commit(&upload->write, &generation, &err)) {
		log_warn("upload not stored", "build_id=%s error=\"%s\"", upload->path.id.text,
			 err.msg);
		reject(req, res, FAILED, err.msg);
		return;
	}
	log_info("file stored", "build_id=%s bytes=%" PRIu64 " rank=%s generation=%" PRIu64,
		 upload->path.id.text, len, debug_rank_names[contents.rank], generation);
	respond_stored(req, upload, current < 0, generation, contents.rank, res);
}

static bool read_token(struct handler_upload *handler, const char *path, struct err *err)
{
	char text[TOKEN_MAX + 1];
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (n < 0)
		return err_errno(err, "read the token from %s", path);

	str token = str_trim((str){ text, (size_t)n });

	if (n > TOKEN_MAX || token.len < TOKEN_MIN)
		return err_set(err, ERR_INVALID, "%s: a token must have %d to %d characters", path,
			       TOKEN_MIN, TOKEN_MAX);
	memcpy(handler->token, token.ptr, token.len);
	return true;
}

bool handler_upload_open(struct handler_upload *handler,
			 const struct handler_upload_options *options, struct files *files,
			 struct err *err)
{
	*handler = (struct handler_upload){ .stream = { .begin = begin,
							.on_piece = on_piece,
							.end = end,
							.whole_ms = options->timeout_ns /
								    UINT64_C(1000000),
							.stall_ms = UPLOAD_STALL_SECONDS * 1000 },
					    .max_bytes = options->max_bytes,
					    .files = files };
	return !*options->token_file || read_token(handler, options->token_file, err);
}
