// SPDX-License-Identifier: Apache-2.0
/*
 * file_parser - a sandboxed process of the uploader, which parses the files of one upload.
 *
 * The uploader opens files and speaks to the network; this process reads the ELF headers and makes
 * the extract ("elf/debug_extract.h"). It is a program of its own, which links little and so starts
 * fast, and a SANDBOX_PARSER ("sandbox/sandbox.h"). Its responses are as untrusted as the files.
 * One thread.
 */
#pragma once

#include "elf/debug_rank.h"
#include "sandbox/sandbox.h"

#include <limits.h>

#define FILE_PARSER_PROGRAM "decima-agent-parser"

enum { EXTRACT_PIECE_BYTES = 64 << 10 };

/* What the uploader needs to know about a file. Texts end with NUL; empty: the file has none. */
struct parsed_file {
	char error[256]; /* the file is malformed; the other members are then 0 */
	enum debug_rank rank;
	uint8_t build_id[BUILD_ID_BYTES_MAX];
	uint32_t build_id_len;
	char link_name[256]; /* .gnu_debuglink, without a directory */
	uint32_t link_crc;
	char alt_path[PATH_MAX]; /* .gnu_debugaltlink */
	char alt_build_id[2 * BUILD_ID_BYTES_MAX + 1];
	uint64_t extract_size;
	char extract_error[256]; /* no extract can be made */
};

/* Bytes of the extract of the file that was parsed last. */
struct extract_piece {
	char error[256];
	uint32_t len;
	char bytes[EXTRACT_PIECE_BYTES];
};

/* A job that passes a descriptor asks for a parsed_file, the others for an extract_piece. */
struct parser_job {
	uint64_t at, len;
	bool is_package; /* the descriptor is a package of the file that was parsed last */
};

struct file_parser {
	enum sandbox_end end; /* of a process that ended by itself; SANDBOX_END_COUNT: none did */
	/* private */
	const char *uid;
	struct sandbox sandbox;
};

/* For one upload; the struct was zeroed or closed before. Starts no process yet: file_parser_read()
 * does. `uid` is borrowed until file_parser_close(). */
void file_parser_open(struct file_parser *parser, const char *uid);
void file_parser_close(struct file_parser *parser);

/* Parses a file. The caller keeps the descriptor. ERR_INVALID: the file is malformed. ERR_IO: the
 * process cannot be started, or has ended. */
bool file_parser_read(struct file_parser *parser, int fd, struct parsed_file *ret_file,
		      struct err *err) MUST_CHECK;

/* Adds a package of split DWARF to the file that was parsed last: its extract contains both, and
 * *ret_file has the rank and size of that. ERR_INVALID: it is not a package of such a file; the
 * extract is then that of the file alone. Otherwise as file_parser_read(). */
bool file_parser_add_package(struct file_parser *parser, int fd, struct parsed_file *ret_file,
			     struct err *err) MUST_CHECK;

/* Copies 1 to len bytes from offset `at` of the extract of the last file. ERR_IO: as above, or the
 * file cannot be read. */
bool file_parser_extract(struct file_parser *parser, uint64_t at, char *to, size_t len,
			 size_t *ret_len, struct err *err) MUST_CHECK;
