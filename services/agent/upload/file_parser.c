// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/upload/file_parser_internal.h"

void file_parser_open(struct file_parser *parser, const char *uid)
{
	parser->end = SANDBOX_END_COUNT;
	parser->uid = uid;
}

void file_parser_close(struct file_parser *parser)
{
	sandbox_stop(&parser->sandbox, SANDBOX_RESPONDED);
}

static bool call(struct file_parser *parser, const struct parser_job *job, int fd,
		 void *ret_response, size_t len, struct err *err)
{
	const int fds[SANDBOX_FDS_MAX] = { fd, -1, -1 };
	enum sandbox_reply reply = SANDBOX_DIED;

	if (!parser->sandbox.pid)
		return err_set(err, ERR_IO, "the process that parses files has ended");
	if (sandbox_send(&parser->sandbox, job, sizeof(*job), fds))
		reply = sandbox_wait(&parser->sandbox, UPLOAD_PARSE_MS, NULL, ret_response, len,
				     NULL);
	if (reply == SANDBOX_RESPONDED)
		return true;
	parser->end = sandbox_stop(&parser->sandbox, reply);
	return err_set(err, ERR_IO, "the process that parses files ended: %s",
		       sandbox_end_names[parser->end]);
}

static bool is_text(const char *text, size_t cap)
{
	return memchr(text, 0, cap) != NULL;
}

static bool is_sound(const struct parsed_file *file)
{
	return is_text(file->error, sizeof(file->error)) && file->rank < DEBUG_RANK_COUNT &&
	       file->build_id_len <= sizeof(file->build_id) &&
	       is_text(file->link_name, sizeof(file->link_name)) && !strchr(file->link_name, '/') &&
	       is_text(file->alt_path, sizeof(file->alt_path)) &&
	       is_text(file->alt_build_id, sizeof(file->alt_build_id)) &&
	       is_text(file->extract_error, sizeof(file->extract_error));
}

static bool fail_unsound(struct file_parser *parser, struct err *err)
{
	parser->end = sandbox_stop(&parser->sandbox, SANDBOX_INVALID);
	return err_set(err, ERR_IO, "the process that parses files sent a malformed response");
}

static bool call_for_file(struct file_parser *parser, const struct parser_job *job, int fd,
			  struct parsed_file *ret_file, struct err *err)
{
	if (!call(parser, job, fd, ret_file, sizeof(*ret_file), err))
		return false;
	if (!is_sound(ret_file))
		return fail_unsound(parser, err);
	return !*ret_file->error || err_set(err, ERR_INVALID, "%s", ret_file->error);
}

bool file_parser_read(struct file_parser *parser, int fd, struct parsed_file *ret_file,
		      struct err *err)
{
	const char *arguments[] = { parser->uid, NULL };
	const struct sandbox_options options = { .program = FILE_PARSER_PROGRAM,
						 .arguments = arguments };
	const struct parser_job job = { 0 };

	if (!parser->sandbox.pid && parser->end == SANDBOX_END_COUNT &&
	    !sandbox_start(&parser->sandbox, &options, err))
		return false;
	return call_for_file(parser, &job, fd, ret_file, err);
}

bool file_parser_add_package(struct file_parser *parser, int fd, struct parsed_file *ret_file,
			     struct err *err)
{
	return call_for_file(parser, &(struct parser_job){ .is_package = true }, fd, ret_file, err);
}

bool file_parser_extract(struct file_parser *parser, uint64_t at, char *to, size_t len,
			 size_t *ret_len, struct err *err)
{
	struct parser_job job = { .at = at,
				  .len = len < EXTRACT_PIECE_BYTES ? len : EXTRACT_PIECE_BYTES };
	static struct extract_piece piece;

	if (!call(parser, &job, -1, &piece, sizeof(piece), err))
		return false;
	if (!is_text(piece.error, sizeof(piece.error)) || piece.len > job.len ||
	    (!piece.len && !*piece.error))
		return fail_unsound(parser, err);
	if (*piece.error)
		return err_set(err, ERR_IO, "%s", piece.error);
	memcpy(to, piece.bytes, piece.len);
	*ret_len = piece.len;
	return true;
}
