// SPDX-License-Identifier: Apache-2.0
/*
 * decima-agent-uploader - finds the debug info of untrusted files and uploads it.
 *
 * The agent starts it when there is a file to upload and passes it one file at a time. It is a
 * process of its own, so that its priority and memory can be limited and it can be killed at any
 * time, and so that the agent itself needs no HTTP client. It opens files and has the network, so
 * it parses no file: that does a sandboxed process of its own
 * ("agent/upload/file_parser_internal.h"), one for each upload. It writes no files: the extract is
 * read from the file while it is sent. It ends when its socket is closed.
 */
#include "agent/agent_limits.h"
#include "agent/upload/debug_files_internal.h"
#include "agent/upload/upload_message_internal.h"
#include "client/fetch.h"
#include "sandbox/sandbox_child.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/stat.h>

enum { RESPONSE_BODY_MAX = 4096, TOKEN_BYTES_MAX = 4096 };

/* To open files of others, and to take privileges from the process that parses them. */
static const uint64_t capabilities = 1U << CAP_DAC_READ_SEARCH | 1U << CAP_SETUID |
				     1U << CAP_SETGID | 1U << CAP_KILL | 1U << CAP_SETPCAP;

struct settings {
	const char *url, *token_file, *sandbox_uid;
	uint64_t timeout_ms;
};

/* The source that fetch_put() reads. */
struct sending {
	struct file_parser *parser;
	uint64_t size;         /* of the extract */
	int fds[2];            /* the file, and its package or -1 */
	struct stat before[2]; /* of them */
	uint64_t sent;
};

/* True if the file is as it was, or if there is none. */
static bool is_unchanged(int fd, const struct stat *before)
{
	struct stat now;

	return fd < 0 || (fstat(fd, &now) == 0 && now.st_size == before->st_size &&
			  now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
			  now.st_mtim.tv_nsec == before->st_mtim.tv_nsec);
}

static bool read_extract(void *self, uint64_t at, char *to, size_t len, size_t *ret_len,
			 struct err *err)
{
	struct sending *sending = self;

	if (!file_parser_extract(sending->parser, at, to, len, ret_len, err))
		return false;
	sending->sent += *ret_len;
	if (at + *ret_len < sending->size)
		return true;
	/* Check before the last piece: a mix of an old and a new file must not be stored. */
	for (size_t i = 0; i < ARRAY_LEN(sending->fds); i++)
		if (!is_unchanged(sending->fds[i], &sending->before[i]))
			return err_set(err, ERR_IO, "the file changed while it was read");
	return true;
}

static enum upload_outcome outcome_of(const struct fetch_response *response)
{
	switch (response->status) {
	case 200:
	case 201:
		return UPLOAD_STORED;
	case 409: /* with Retry-After: another upload of it is in progress */
		return response->retry_after_s ? UPLOAD_IN_PROGRESS : UPLOAD_HAVE_IT;
	case 413:
		return UPLOAD_TOO_LARGE;
	case 401:
	case 403:
		return UPLOAD_UNAUTHORIZED;
	case 408:
	case 429:
		return UPLOAD_BUSY;
	default:
		return response->status >= 500 ? UPLOAD_BUSY : UPLOAD_REFUSED;
	}
}

/* The authorization header. Read each time, since tokens change. NULL: no token. */
static const char *authorization(const struct settings *settings, struct arena *arena)
{
	char room[TOKEN_BYTES_MAX];
	AUTO_FD fd = *settings->token_file ? open(settings->token_file, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, room, sizeof(room));

	if (n <= 0)
		return NULL;

	str token = str_trim((str){ room, (size_t)n });

	return str_z(arena, str_format(arena, "Authorization: Bearer " STR_FMT, STR_ARG(token)));
}

static bool append_body(void *self, str piece, struct err *err)
{
	struct buf *body = self;

	(void)err;
	if (body->len + piece.len <= RESPONSE_BODY_MAX)
		buf_str(body, piece);
	return true;
}

static enum upload_outcome put(const struct settings *settings, const char *build_id,
			       bool is_trusted, const struct debug_file *file,
			       struct sending *sending, struct upload_response_message *result)
{
	AUTO_ARENA arena = { 0 };
	struct buf body = { .arena = &arena };
	const char *header = authorization(settings, &arena);
	str server = str_from(settings->url);

	while (str_ends_with(server, STR("/")))
		server.len--;

	str url = str_format(&arena, STR_FMT "/buildid/%s/debuginfo?rank=%s&trusted=%s",
			     STR_ARG(server), build_id, debug_rank_names[file->parsed.rank],
			     is_trusted ? "true" : "false");
	struct fetch fetch = { .url = str_z(&arena, url),
			       .headers = &header,
			       .header_count = header != NULL,
			       .timeout_ms = settings->timeout_ms,
			       .stall_ms = UPLOAD_STALL_MS,
			       .body_max = 1 << 20,
			       .on_body = append_body,
			       .self = &body };
	struct fetch_source source = { .size = sending->size,
				       .read = read_extract,
				       .self = sending };
	struct fetch_response response;
	struct err err;

	if (!fetch_put(&fetch, &source, &response, &err)) {
		snprintf(result->error, sizeof(result->error), "%s", err.msg);
		return sending->sent ? UPLOAD_BROKEN_OFF : UPLOAD_UNREACHABLE;
	}
	result->retry_after_s = response.retry_after_s;
	if (response.status >= 300)
		snprintf(result->error, sizeof(result->error), "status %d: " STR_FMT,
			 response.status, STR_ARG(str_trim(buf_bytes(&body))));
	for (char *c = result->error; *c; c++)
		if (*c == '"') /* the log puts the text between quotation marks */
			*c = '\'';
	return outcome_of(&response);
}

/* Why the last call of the parser failed: it has ended, or the file is malformed. */
static enum upload_outcome parser_failed(const struct file_parser *parser, const struct err *err,
					 struct upload_response_message *result)
{
	snprintf(result->error, sizeof(result->error), "%s", err->msg);
	return err->code == ERR_INVALID && parser->end == SANDBOX_END_COUNT ? UPLOAD_MALFORMED
									    : UPLOAD_CRASHED;
}

static enum upload_outcome send_file(const struct settings *settings, const char *build_id,
				     const struct debug_target *target,
				     const struct debug_file *file,
				     struct upload_response_message *result)
{
	struct file_parser *parser = target->parser;
	struct sending sending = { .parser = parser, .fds = { file->fd, file->package_fd } };
	struct parsed_file parsed; /* again: it may not be the one that was parsed last */
	struct err err = { 0 };

	if (file->parsed.rank == DEBUG_NOTHING)
		return UPLOAD_NOTHING;
	for (size_t i = 0; i < ARRAY_LEN(sending.fds); i++)
		if (sending.fds[i] >= 0 && fstat(sending.fds[i], &sending.before[i]) != 0)
			return UPLOAD_BROKEN_OFF;
	if (!debug_file_select(target, file, &parsed, &err))
		return parser_failed(parser, &err, result);
	if (*parsed.extract_error) {
		snprintf(result->error, sizeof(result->error), "%s", parsed.extract_error);
		return UPLOAD_MALFORMED;
	}
	sending.size = parsed.extract_size;
	if (sending.size > UPLOAD_FILE_BYTES_MAX)
		return UPLOAD_TOO_LARGE;

	enum upload_outcome outcome =
		put(settings, build_id, target->is_trusted, file, &sending, result);

	result->bytes += sending.sent;
	return parser->end == SANDBOX_END_COUNT ? outcome : UPLOAD_CRASHED;
}

static void send_common(const struct settings *settings, const struct debug_target *target,
			const struct debug_file *file, struct arena *arena,
			struct upload_response_message *result)
{
	const char *build_id;
	struct debug_file common = debug_files_find_common(target, file, arena, &build_id);

	if (common.fd < 0)
		return;
	result->outcomes[UPLOAD_PART_COMMON] =
		send_file(settings, build_id, target, &common, result);
	debug_file_close(&common);
}

static struct upload_response_message work(const struct settings *settings,
					   const struct upload_job_message *job,
					   const struct debug_target *target)
{
	AUTO_ARENA arena = { 0 };
	struct upload_response_message result = { .outcomes = { UPLOAD_OUTCOME_COUNT,
								UPLOAD_OUTCOME_COUNT } };
	enum upload_outcome *own = &result.outcomes[UPLOAD_PART_OWN];
	struct debug_file file;
	struct err err;

	/* The service cannot verify the hash of the whole file from an extract, so we must be
	 * trusted. */
	if (str_starts_with(str_from(job->build_id), STR("htlhash:")) && !*settings->token_file) {
		*own = UPLOAD_NO_BUILD_ID;
		return result;
	}
	if (!debug_files_find(target, &arena, &file, &err)) {
		*own = parser_failed(target->parser, &err, &result);
		return result;
	}
	snprintf(result.rank, sizeof(result.rank), "%s", debug_rank_names[file.parsed.rank]);
	if (!job->is_done[UPLOAD_PART_OWN])
		*own = send_file(settings, job->build_id, target, &file, &result);
	if (!job->is_done[UPLOAD_PART_COMMON])
		send_common(settings, target, &file, &arena, &result);
	debug_file_close(&file);
	return result;
}

static bool receive_job(struct upload_job_message *job, struct debug_target *target)
{
	int fds[SANDBOX_FDS_MAX];

	if (!sandbox_message_receive(SANDBOX_SOCKET, job, sizeof(*job), fds))
		return false;
	target->fd = fds[0];
	target->is_own_root = fds[1] < 0;
	target->root = target->is_own_root ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : fds[1];
	target->is_trusted = job->is_trusted;
	return target->fd >= 0 && target->root >= 0;
}

static void serve(const struct settings *settings)
{
	static struct upload_job_message job;
	struct file_parser parser = { 0 };
	struct debug_target target = { .build_id = job.build_id,
				       .path = job.path,
				       .parser = &parser };

	while (receive_job(&job, &target)) {
		file_parser_open(&parser, settings->sandbox_uid);

		struct upload_response_message result = work(settings, &job, &target);

		file_parser_close(&parser);
		result.parser_end = parser.end;
		close(target.fd);
		close(target.root);
		if (!sandbox_message_send(SANDBOX_SOCKET, &result, sizeof(result), NULL))
			return;
	}
}

int main(int argc, char **argv)
{
	const struct sandbox_rules rules = { .profile = SANDBOX_HELPER,
					     .name = UPLOADER_NAME,
					     .capabilities = capabilities,
					     .address_space_max = UPLOADER_MEMORY_MAX,
					     .nice = UPLOADER_NICE,
					     .only_when_idle = true };
	struct settings settings = { 0 };

	if (argc != UPLOADER_ARGUMENTS ||
	    !str_to_u64(str_from(argv[UPLOADER_TIMEOUT_MS]), &settings.timeout_ms)) {
		fputs(UPLOADER_NAME ": started by decima-agent only\n", stderr);
		return 2;
	}
	settings.url = argv[UPLOADER_URL];
	settings.token_file = argv[UPLOADER_TOKEN_FILE];
	settings.sandbox_uid = argv[UPLOADER_SANDBOX_UID];
	if (!sandbox_enter(&rules))
		return 1;
	serve(&settings);
	return 0;
}
