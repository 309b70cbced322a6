// SPDX-License-Identifier: Apache-2.0
/*
 * file_message_internal - the jobs and responses of decima-agent-opener and decima-agent-reader.
 *
 * The opener finds and opens files; the reader parses them, in a sandbox. Both get their jobs by
 * "sandbox/sandbox_message.h" and respond in the order of the jobs.
 */
#pragma once

#include "agent/files/file_open.h"

#define FILE_OPENER_NAME "decima-agent-opener"
#define FILE_READER_NAME "decima-agent-reader"

enum { FILE_JOB_PATH_MAX = 4096 };

/* To the opener. With a descriptor of an earlier response: open that file. Else: find the file. */
struct file_job_message {
	uint32_t way; /* to begin with; an enum file_way */
	bool may_wait, is_local;
	uint32_t pid, parent_pid, device_major, device_minor;
	uint64_t start, end, inode;
	uint8_t build_id[BUILD_ID_BYTES_MAX];
	uint32_t build_id_len, path_len;
	char path[FILE_JOB_PATH_MAX];
};

/* From the opener. Found: with the descriptors of struct file_location. Opened: with a file. */
struct file_job_response {
	uint32_t way; /* FILE_WAY_COUNT: not found, or not opened */
	bool must_wait, is_local, is_trusted, has_root;
	struct executable_key key;
	char error[128]; /* not opened: why */
};

/* To the reader, with a file. */
struct file_read_message {
	char unused;
};

struct file_read_response {
	bool is_elf;
	char build_id[BUILD_ID_TEXT_MAX]; /* "htlhash:..." if the file has none */
	char hash[HTLHASH_HEX_LEN];
	uint32_t segment_count;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
};
