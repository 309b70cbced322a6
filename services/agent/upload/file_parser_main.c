// SPDX-License-Identifier: Apache-2.0
/*
 * decima-agent-parser - the process's own side of "agent/upload/file_parser_internal.h".
 */
#include "agent/agent_limits.h"
#include "agent/upload/file_parser_internal.h"
#include "elf/debug_extract.h"
#include "elf/debug_link.h"
#include "elf/elf_file.h"
#include "sandbox/sandbox_child.h"

#include <stdio.h>

enum { LINK_BYTES_MAX = 8192 };

/* The file that is parsed. */
struct current_file {
	int fd; /* -1: none */
	struct elf_sections sections;
	struct debug_package package; /* .fd -1: none */
	struct debug_extract extract;
	struct arena arena;
};

static str section_of(struct current_file *file, const char *name)
{
	const struct elf_section *section = elf_sections_find(&file->sections, str_from(name));
	struct err err;
	str bytes = { 0 };

	if (!section ||
	    !elf_section_read(file->fd, section, LINK_BYTES_MAX, &file->arena, &bytes, &err))
		return (str){ 0 };
	return bytes;
}

static void copy(char *to, size_t cap, str text)
{
	if (text.len < cap)
		snprintf(to, cap, STR_FMT, STR_ARG(text));
}

static void parse_links(struct current_file *file, struct parsed_file *result)
{
	struct debug_link link;
	struct debug_altlink alt;

	if (debug_link_parse(section_of(file, ".gnu_debuglink"), &link)) {
		copy(result->link_name, sizeof(result->link_name), link.name);
		result->link_crc = link.crc;
	}
	if (debug_altlink_parse(section_of(file, ".gnu_debugaltlink"), &alt)) {
		copy(result->alt_path, sizeof(result->alt_path), alt.path);
		copy(result->alt_build_id, sizeof(result->alt_build_id),
		     str_hex(&file->arena, alt.build_id));
	}
}

static void parse(struct current_file *file, struct parsed_file *result)
{
	struct elf_file elf = { 0 };
	struct err err = { 0 };

	if (!elf_sections_read(file->fd, &file->arena, &file->sections, &err)) {
		snprintf(result->error, sizeof(result->error), "%s", err.msg);
		return;
	}
	result->rank = debug_contents_of(file->fd, &file->sections).rank;
	if (elf_file_read(&elf, file->fd, &err)) {
		memcpy(result->build_id, elf.build_id, elf.build_id_len);
		result->build_id_len = (uint32_t)elf.build_id_len;
	}
	parse_links(file, result);
	if (debug_extract_plan(&file->extract, file->fd, &file->sections, NULL, &file->arena, &err))
		result->extract_size = file->extract.size;
	else
		snprintf(result->extract_error, sizeof(result->extract_error), "%s", err.msg);
}

static void close_package(struct current_file *file)
{
	if (file->package.fd >= 0)
		close(file->package.fd);
	file->package = (struct debug_package){ .fd = -1 };
}

static bool respond_parsed(struct current_file *file, int fd)
{
	static struct parsed_file result;

	if (file->fd >= 0)
		close(file->fd);
	close_package(file);
	arena_free(&file->arena);
	*file = (struct current_file){ .fd = fd, .package = { .fd = -1 } };
	memset(&result, 0, sizeof(result));
	parse(file, &result);
	return sandbox_message_send(SANDBOX_SOCKET, &result, sizeof(result), NULL);
}

static bool plan_with_package(struct current_file *file, struct err *err)
{
	const struct elf_sections *sections = &file->package.sections;

	if (file->fd < 0)
		return err_set(err, ERR_INVALID, "a package without its file");
	if (!elf_sections_read(file->package.fd, &file->arena, &file->package.sections, err))
		return false;
	if (!elf_section_has_bytes(elf_sections_find(sections, STR(".debug_cu_index"))))
		return err_set(err, ERR_INVALID, "it is not a package of split DWARF");
	return debug_extract_plan(&file->extract, file->fd, &file->sections, &file->package,
				  &file->arena, err);
}

static bool respond_package(struct current_file *file, int fd)
{
	static struct parsed_file result;
	struct err err = { 0 };

	close_package(file);
	file->package.fd = fd;
	memset(&result, 0, sizeof(result));
	if (plan_with_package(file, &err)) {
		result.rank = DEBUG_DWARF;
		result.extract_size = file->extract.size;
	} else {
		snprintf(result.error, sizeof(result.error), "%s", err.msg);
	}
	return sandbox_message_send(SANDBOX_SOCKET, &result, sizeof(result), NULL);
}

static bool respond_piece(const struct current_file *file, const struct parser_job *job)
{
	static struct extract_piece piece;
	struct err err;
	size_t len;

	piece.len = 0;
	piece.error[0] = 0;
	if (debug_extract_read(&file->extract, job->at, piece.bytes,
			       job->len < sizeof(piece.bytes) ? job->len : sizeof(piece.bytes),
			       &len, &err))
		piece.len = (uint32_t)len;
	else
		snprintf(piece.error, sizeof(piece.error), "%s", err.msg);
	return sandbox_message_send(SANDBOX_SOCKET, &piece, sizeof(piece), NULL);
}

static bool respond(struct current_file *file, const struct parser_job *job, int fd)
{
	if (fd < 0)
		return respond_piece(file, job);
	return job->is_package ? respond_package(file, fd) : respond_parsed(file, fd);
}

int main(int argc, char **argv)
{
	struct sandbox_rules rules = { .profile = SANDBOX_PARSER,
				       .name = "upload-parser",
				       .address_space_max = UPLOADER_MEMORY_MAX,
				       .file_max = 1,
				       .cpu_seconds_max = UPLOAD_PARSER_CPU_SECONDS,
				       .nice = UPLOADER_NICE };
	struct current_file file = { .fd = -1, .package = { .fd = -1 } };
	int fds[SANDBOX_FDS_MAX];
	struct parser_job job;

	if (!sandbox_arguments_parse(&rules, argc, argv))
		return 2;
	if (!sandbox_enter(&rules))
		return 1;
	while (sandbox_message_receive(SANDBOX_SOCKET, &job, sizeof(job), fds) &&
	       respond(&file, &job, fds[0])) {
	}
	_exit(0);
}
