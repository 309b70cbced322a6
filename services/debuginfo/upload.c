// SPDX-License-Identifier: Apache-2.0
#include "upload.h"

#include "answer.h"
#include "base/log.h"
#include "chassis/json.h"
#include "chassis/metrics.h"
#include "debuginfo_limits.h"
#include "question.h"
#include "verify.h"

#include <fcntl.h>
#include <inttypes.h>

enum outcome {
	STORED,
	REPLACED,
	HAVE_IT,
	IN_PROGRESS,
	BUSY,
	UNAUTHORIZED,
	MALFORMED,
	BROKEN_OFF,
	FAILED,
	OUTCOMES
};
static const char *const outcome_names[OUTCOMES] = {
	[STORED] = "stored",       [REPLACED] = "replaced",
	[HAVE_IT] = "have_it",     [IN_PROGRESS] = "in_progress",
	[BUSY] = "busy",           [UNAUTHORIZED] = "unauthorized",
	[MALFORMED] = "malformed", [BROKEN_OFF] = "broken_off",
	[FAILED] = "failed",
};

static struct metric uploads = {
	.name = "decima_debuginfo_uploads_total",
	.kind = METRIC_COUNTER,
	.help = "Uploads that were offered, by what became of them. Broken "
		"off are those that stalled, went away or were too long.",
	.label = "outcome",
	.values = outcome_names,
	.value_count = OUTCOMES
};
static struct metric bytes = { .name = "decima_debuginfo_upload_bytes_total",
			       .kind = METRIC_COUNTER,
			       .help = "Bytes of bodies that were taken." };
static struct metric running = { .name = "decima_debuginfo_uploads_running",
				 .kind = METRIC_GAUGE,
				 .help = "Uploads that are being taken just now." };
struct metric *const upload_metrics[UPLOAD_METRICS] = { &uploads, &bytes, &running };

/* An upload while it comes: the stream of its request. */
struct work {
	struct question question;
	struct file_write write;
	bool is_trusted, is_forced;
	size_t magic_len; /* of the ELF magic that was seen */
};

static void refuse(const struct http_request *req, struct http_response *res, enum outcome outcome,
		   const char *sentence)
{
	static const struct {
		const char *type;
		int status;
		bool later;
	} rows[OUTCOMES] = {
		[HAVE_IT] = { "have_it", 409, false },
		[IN_PROGRESS] = { "in_progress", 409, true },
		[BUSY] = { "unavailable", 503, true },
		[UNAUTHORIZED] = { "unauthorized", 401, false },
		[MALFORMED] = { "bad_data", 400, false },
		[FAILED] = { "unavailable", 503, true },
	};

	metric_add_at(&uploads, outcome, 1);
	(rows[outcome].later ? answer_later : answer_error)(req->arena, res, rows[outcome].status,
							    rows[outcome].type, sentence);
}

/* In a time that does not tell how much of it was right. */
static bool token_is(const char *token, str given)
{
	size_t len = strlen(token);
	unsigned int differ = given.len != len;

	for (size_t i = 0; i < len; i++)
		differ |= (unsigned int)(token[i] ^ (i < given.len ? given.ptr[i] : 0));
	return !differ;
}

static bool check_token(const struct upload *upload, const struct http_request *req,
			struct work *work)
{
	str given = http_header(req, "Authorization");

	if (!*upload->token)
		return true;
	if (!str_starts_with(given, STR("Bearer ")))
		return false;
	work->is_trusted = token_is(upload->token, str_skip(given, strlen("Bearer ")));
	return work->is_trusted;
}

static bool check_question(const struct http_request *req, struct work *work,
			   enum debug_rank *ret_rank, struct err *err)
{
	str rank = http_query(req, "rank");
	str force = http_query(req, "force");

	*ret_rank = DEBUG_DWARF;
	if (!question_parse(req->below, &work->question, err))
		return false;
	if (work->question.kind != ASK_DEBUGINFO)
		return err_set(err, ERR_INVALID, "only PUT /buildid/ID/debuginfo is taken");
	if (rank.ptr && !debug_rank_parse(rank, ret_rank))
		return err_set(err, ERR_INVALID,
			       "rank is one of nothing, dynsym, mini, symtab, go, dwarf");
	work->is_forced = str_eq(force, STR("true")) || str_eq(force, STR("1"));
	if (work->is_forced && !work->is_trusted)
		return err_set(err, ERR_INVALID, "only who has the token may use force");
	return true;
}

/* How good the held one is; -1: there is none. */
static int held_rank(const struct upload *upload, const struct build_id *id)
{
	struct file_key key = file_key_debuginfo(id);
	struct held_file held;

	if (!files_find(upload->files, &key, &held))
		return -1;

	enum debug_rank rank = contents_of(held.fd).rank;

	close(held.fd);
	return (int)rank;
}

static void leave(struct upload *upload)
{
	metric_set(&running, --upload->running);
}

static bool enter(struct upload *upload)
{
	if (++upload->running > UPLOADS_MAX) {
		leave(upload);
		return false;
	}
	metric_set(&running, upload->running);
	return true;
}

static bool begin(void *service, struct http_request *req, struct http_response *res)
{
	struct upload *upload = service;
	struct work *work = arena_new(req->arena, struct work);
	enum debug_rank told;
	struct err err = { 0 };

	if (!check_token(upload, req, work)) {
		refuse(req, res, UNAUTHORIZED, "an upload needs Authorization: Bearer TOKEN");
		return false;
	}
	if (!check_question(req, work, &told, &err)) {
		refuse(req, res, MALFORMED, err.msg);
		return false;
	}
	if (!work->is_forced && (int)told <= held_rank(upload, &work->question.id)) {
		refuse(req, res, HAVE_IT, "a file that is as good is held already");
		return false;
	}
	if (!enter(upload)) {
		refuse(req, res, BUSY, "too many files are being uploaded; try again later");
		return false;
	}

	struct file_key key = file_key_debuginfo(&work->question.id);

	if (!file_write_begin(&work->write, upload->files, &key, &err)) {
		leave(upload);
		refuse(req, res, err.code == ERR_LIMIT ? IN_PROGRESS : FAILED, err.msg);
		return false;
	}
	req->stream = work;
	return true;
}

/* What is no ELF file is known by its first bytes: the rest need not come. */
static bool check_magic(struct work *work, str piece)
{
	static const char magic[] = { 0x7f, 'E', 'L', 'F' };

	for (size_t i = 0; i < piece.len && work->magic_len < sizeof(magic); i++)
		if (piece.ptr[i] != magic[work->magic_len++])
			return false;
	return true;
}

static bool take(void *service, const struct http_request *req, str piece,
		 struct http_response *res)
{
	struct work *work = req->stream;
	struct err err = { 0 };

	(void)service;
	metric_add(&bytes, piece.len);
	if (check_magic(work, piece) && file_write_add(&work->write, piece, &err))
		return true;
	file_write_abandon(&work->write);
	if (err.code == ERR_NONE) {
		refuse(req, res, MALFORMED, "not an ELF file");
		return false;
	}
	log_warn("upload not stored", "build_id=%s error=\"%s\"", work->question.id.text, err.msg);
	refuse(req, res, FAILED, err.msg);
	return false;
}

static void end(void *service, const struct http_request *req)
{
	struct upload *upload = service;
	struct work *work = req->stream;

	if (work->write.files) {
		metric_add_at(&uploads, BROKEN_OFF, 1);
		log_info("upload broken off", "build_id=%s bytes=%" PRIu64, work->question.id.text,
			 work->write.len);
		file_write_abandon(&work->write);
	}
	leave(upload);
}

static void answer_stored(const struct http_request *req, const struct work *work, bool is_new,
			  uint64_t generation, enum debug_rank rank, struct http_response *res)
{
	struct buf out = { .arena = req->arena };
	struct json json = { .out = &out };

	json_object(&json);
	json_key(&json, STR("status"));
	json_str(&json, STR("success"));
	json_key(&json, STR("data"));
	json_object(&json);
	json_key(&json, STR("build_id"));
	json_str(&json, str_from(work->question.id.text));
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

void upload_finish(void *service, const struct http_request *req, struct http_response *res)
{
	struct upload *upload = service;
	struct work *work = req->stream;
	struct debug_contents contents;
	int held = held_rank(upload, &work->question.id);
	uint64_t generation, len = work->write.len;
	struct err err = { 0 };

	if (!verify_file(work->write.fd, &work->question.id, work->is_trusted, &contents, &err)) {
		file_write_abandon(&work->write);
		refuse(req, res, MALFORMED, err.msg);
		return;
	}
	if (!work->is_forced && (int)contents.rank <= held) {
		file_write_abandon(&work->write);
		refuse(req, res, HAVE_IT, "a file that is as good is held already");
		return;
	}
	if (!file_write_commit(&work->write, &generation, &err)) {
		log_warn("upload not stored", "build_id=%s error=\"%s\"", work->question.id.text,
			 err.msg);
		refuse(req, res, FAILED, err.msg);
		return;
	}
	log_info("file stored", "build_id=%s bytes=%" PRIu64 " rank=%s generation=%" PRIu64,
		 work->question.id.text, len, debug_rank_names[contents.rank], generation);
	answer_stored(req, work, held < 0, generation, contents.rank, res);
}

static bool read_token(struct upload *upload, const char *path, struct err *err)
{
	char room[TOKEN_MAX + 1];
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, room, sizeof(room));

	if (n < 0)
		return err_errno(err, "read the token from %s", path);

	str token = str_trim((str){ room, (size_t)n });

	if (n > TOKEN_MAX || token.len < TOKEN_MIN)
		return err_set(err, ERR_INVALID, "%s: a token has %d to %d characters", path,
			       TOKEN_MIN, TOKEN_MAX);
	memcpy(upload->token, token.ptr, token.len);
	return true;
}

bool upload_open(struct upload *upload, const struct upload_options *options, struct files *files,
		 struct err *err)
{
	*upload = (struct upload){ .stream = { .begin = begin,
					       .take = take,
					       .end = end,
					       .whole_ms = options->timeout_ns / UINT64_C(1000000),
					       .stall_ms = UPLOAD_STALL_SECONDS * 1000 },
				   .max_bytes = options->max_bytes,
				   .files = files };
	return !*options->token_file || read_token(upload, options->token_file, err);
}
