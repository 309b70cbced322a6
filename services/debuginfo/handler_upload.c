// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/handler_upload.h"

#include "base/clock.h"
#include "base/log.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/file_write.h"
#include "debuginfo/files_sweep.h"
#include "debuginfo/replacement.h"
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
	ROW(CONTRADICTS, "contradicts")   \
	ROW(IN_PROGRESS, "in_progress")   \
	ROW(BUSY, "busy")                 \
	ROW(CLIENT_BUSY, "client_busy")   \
	ROW(OVER_QUOTA, "over_quota")     \
	ROW(FULL, "full")                 \
	ROW(UNAUTHORIZED, "unauthorized") \
	ROW(MALFORMED, "malformed")       \
	ROW(LIMITED, "beyond_limits")     \
	ROW(BROKEN_OFF, "aborted")        \
	ROW(FAILED, "failed")

enum handler_upload_outcome { UPLOAD_OUTCOMES(NAMED_CONSTANT) OUTCOMES };
static const char *const outcome_names[OUTCOMES] = { UPLOAD_OUTCOMES(NAMED_TEXT) };

#define HANDLER_UPLOAD_METRICS(ROW)                                                              \
	ROW(uploads, METRIC_COUNTER, "decima_debuginfo_uploads_total",                           \
	    "Upload requests, by outcome. contradicts: the stored file is of another build; "    \
	    "beyond_limits: the file's headers, or what it unpacks to; "                         \
	    "client_busy, over_quota: the client has used its share of the uploads; "            \
	    "full: the store is full of files that clients asked for lately; "                   \
	    "aborted: the upload stalled or was too slow, the client disconnected, or the body " \
	    "was too long.",                                                                     \
	    METRIC_LABEL("outcome", outcome_names, OUTCOMES))                                    \
	ROW(bytes, METRIC_COUNTER, "decima_debuginfo_upload_bytes_total",                        \
	    "Bytes received in the bodies of uploads.")

METRICS(handler_upload_metrics, HANDLER_UPLOAD_METRICS);

/* An upload in progress: the stream of its request. */
struct incoming_upload {
	struct request_path path;
	struct file_write write;
	struct upload_share *share;
	bool is_authorized; /* it has the token */
	bool is_trusted;    /* the file; see replacement.h */
	bool is_forced;
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
		[CONTRADICTS] = { "contradicts", 409, false },
		[IN_PROGRESS] = { "in_progress", 409, true },
		[BUSY] = { "unavailable", 503, true },
		[CLIENT_BUSY] = { "unavailable", 429, true },
		[OVER_QUOTA] = { "unavailable", 429, true },
		[FULL] = { "unavailable", 507, true },
		[UNAUTHORIZED] = { "unauthorized", 401, false },
		[MALFORMED] = { "bad_data", 400, false },
		[LIMITED] = { "bad_data", 400, false },
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
	upload->is_authorized = token_is(handler->token, str_skip(header, strlen("Bearer ")));
	return upload->is_authorized;
}

/* True, or false with a sentence: neither "true" nor "false". */
static bool read_flag(const struct http_request *req, const char *name, bool *flag, struct err *err)
{
	str text = http_query(req, name);

	if (!text.ptr)
		return true;
	*flag = str_eq(text, STR("true")) || str_eq(text, STR("1"));
	return *flag || str_eq(text, STR("false")) || str_eq(text, STR("0")) ||
	       err_set(err, ERR_INVALID, "%s must be true or false", name);
}

static bool check_request(const struct http_request *req, struct incoming_upload *upload,
			  enum debug_rank *ret_rank, struct err *err)
{
	str rank = http_query(req, "rank");

	*ret_rank = DEBUG_DWARF;
	if (!request_path_parse(req->below, &upload->path, err))
		return false;
	if (upload->path.kind != REQUEST_DEBUGINFO)
		return err_set(err, ERR_INVALID, "only PUT /buildid/ID/debuginfo is supported");
	if (rank.ptr && !debug_rank_parse(rank, ret_rank))
		return err_set(
			err, ERR_INVALID,
			"rank must be one of nothing, dynsym, mini, symtab, split, go, dwarf");
	upload->is_trusted = true;
	if (!read_flag(req, "trusted", &upload->is_trusted, err) ||
	    !read_flag(req, "force", &upload->is_forced, err))
		return false;
	if (upload->is_forced && !upload->is_authorized)
		return err_set(err, ERR_INVALID, "force requires the upload token");
	return true;
}

static const char have_it[] = "a file that is at least as good is stored already";

/* 0: the body has no stated length. */
static uint64_t body_len(const struct http_request *req)
{
	uint64_t len = 0;

	(void)!str_to_u64(http_header(req, "Content-Length"), &len);
	return len;
}

static const char over_quota[] =
	"this client has uploaded as much as it may (--upload-daily-max-bytes); try again later";

/* Acquire an upload slot. False, with the response: there is none. */
static bool enter(struct handler_upload *handler, const struct http_request *req,
		  struct incoming_upload *upload, struct http_response *res)
{
	static const struct {
		enum handler_upload_outcome outcome;
		const char *sentence;
	} rejections[UPLOAD_ADMISSION_COUNT] = {
		[UPLOAD_ALL_BUSY] = { BUSY, "too many concurrent uploads; try again later" },
		[UPLOAD_CLIENT_BUSY] = { CLIENT_BUSY,
					 "too many concurrent uploads of this client" },
		[UPLOAD_OVER_QUOTA] = { OVER_QUOTA, over_quota },
	};
	enum upload_admission admission = upload_shares_enter(
		&handler->shares, req->client, body_len(req), clock_monotonic_ns(), &upload->share);

	if (admission == UPLOAD_ADMITTED)
		return true;
	reject(req, res, rejections[admission].outcome, rejections[admission].sentence);
	return false;
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

	struct file_key key = file_key_debuginfo(&upload->path.id);
	struct debug_claim claim = { .rank = claimed, .is_trusted = upload->is_trusted };

	if (!upload->is_forced &&
	    replacement_of_claim(handler->files, &key, claim) == REPLACEMENT_NO_BETTER) {
		reject(req, res, HAVE_IT, have_it);
		return false;
	}
	/* Before the body is sent. If its length is unknown, the commit decides. */
	if (!files_may_have_room(handler->files, body_len(req))) {
		reject(req, res, FULL, "the store is full of files that clients asked for");
		return false;
	}
	if (!file_write_begin(&upload->write, handler->files, &key, &err)) {
		reject(req, res, err.code == ERR_BUSY ? IN_PROGRESS : FAILED, err.msg);
		return false;
	}
	if (!enter(handler, req, upload, res)) {
		file_write_abandon(&upload->write);
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
	struct handler_upload *handler = service;
	struct incoming_upload *upload = req->stream;
	struct err err = { 0 };

	metric_add(&bytes, piece.len);
	if (!upload_shares_charge(&handler->shares, upload->share, piece.len,
				  clock_monotonic_ns())) {
		file_write_abandon(&upload->write);
		reject(req, res, OVER_QUOTA, over_quota);
		return false;
	}
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
	upload_shares_leave(&handler->shares, upload->share);
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

/* False, with the response: the stored file stays. */
static bool check_replacement(const struct handler_upload *handler, const struct http_request *req,
			      const struct incoming_upload *upload, enum debug_rank rank,
			      struct http_response *res)
{
	struct file_key key = file_key_debuginfo(&upload->path.id);
	struct debug_claim claim = { .rank = rank, .is_trusted = upload->is_trusted };
	struct err why = { 0 };

	switch (replacement_of_file(handler->files, &key, upload->write.fd, claim, &why)) {
	case REPLACEMENT_BETTER:
		return true;
	case REPLACEMENT_CONTRADICTS:
		log_warn("upload contradicts the stored file", "build_id=%s trusted=%d why=\"%s\"",
			 upload->path.id.text, upload->is_trusted, why.msg);
		reject(req, res, CONTRADICTS, why.msg);
		return false;
	case REPLACEMENT_NO_BETTER:
	case REPLACEMENT_COUNT:
		break;
	}
	reject(req, res, HAVE_IT, have_it);
	return false;
}

void handler_upload_finish(void *service, const struct http_request *req, struct http_response *res)
{
	struct handler_upload *handler = service;
	struct incoming_upload *upload = req->stream;
	struct file_key key = file_key_debuginfo(&upload->path.id);
	bool is_new = files_generation(handler->files, &key) == 0;
	uint64_t generation, len = upload->write.len;
	struct debug_contents contents;
	struct err err = { 0 };

	if (!verify_file(upload->write.fd, &upload->path.id, upload->is_authorized, &contents,
			 &err)) {
		file_write_abandon(&upload->write);
		reject(req, res, err.code == ERR_LIMIT ? LIMITED : MALFORMED, err.msg);
		return;
	}
	if (!upload->is_forced && !check_replacement(handler, req, upload, contents.rank, res)) {
		file_write_abandon(&upload->write);
		return;
	}
	upload->write.is_trusted = upload->is_trusted;
	upload->write.uploader = req->client;
	if (!file_write_commit(&upload->write, &generation, &err)) {
		log_warn("upload not stored", "build_id=%s error=\"%s\"", upload->path.id.text,
			 err.msg);
		reject(req, res, err.code == ERR_LIMIT ? FULL : FAILED, err.msg);
		return;
	}
	log_info("file stored",
		 "build_id=%s bytes=%" PRIu64 " rank=%s trusted=%d generation=%" PRIu64,
		 upload->path.id.text, len, debug_rank_names[contents.rank], upload->is_trusted,
		 generation);
	respond_stored(req, upload, is_new, generation, contents.rank, res);
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
							.stall_ms = UPLOAD_STALL_SECONDS * 1000,
							.slowest_bytes = UPLOAD_SLOWEST_BYTES },
					    .max_bytes = options->max_bytes,
					    .files = files };
	upload_shares_init(&handler->shares, options->client_slots, options->daily_bytes);
	return !*options->token_file || read_token(handler, options->token_file, err);
}
