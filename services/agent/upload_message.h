// SPDX-License-Identifier: Apache-2.0
/*
 * upload_message - what the agent and its uploader tell each other, a datagram each.
 *
 * Both are of one build and one machine, so these are plain structs. With a job come one or two
 * descriptors: the file, and where it is not our own the root of the process that mapped it.
 */
#pragma once

#include "executable.h"

#include <limits.h>

/* What became of a file. The first ones are the end of it, the others are tried again. */
enum upload_outcome {
	UPLOAD_STORED,
	UPLOAD_HAVE_IT,
	UPLOAD_NOTHING, /* it tells no names */
	UPLOAD_NO_BUILD_ID,
	UPLOAD_MALFORMED,
	UPLOAD_TOO_LARGE,
	UPLOAD_REFUSED,
	UPLOAD_CRASHED,
	UPLOAD_GAVE_UP,
	UPLOAD_DISK_FULL,
	UPLOAD_FINAL_COUNT,
	UPLOAD_IN_PROGRESS = UPLOAD_FINAL_COUNT,
	UPLOAD_BUSY,
	UPLOAD_UNAUTHORIZED,
	UPLOAD_UNREACHABLE,
	UPLOAD_BROKEN_OFF,
	UPLOAD_TIMED_OUT,
	UPLOAD_OUTCOME_COUNT
};

/* A mapped file's debug info, and what dwz moved out of it into a common file. */
enum upload_part { UPLOAD_PART_OWN, UPLOAD_PART_COMMON, UPLOAD_PART_COUNT };

struct upload_job_message {
	char build_id[BUILD_ID_TEXT_MAX];
	char path[PATH_MAX]; /* in the process's root */
	bool is_done[UPLOAD_PART_COUNT];
};

struct upload_response_message {
	enum upload_outcome outcomes[UPLOAD_PART_COUNT]; /* COUNT: there is none */
	uint64_t retry_after_s;                          /* 0: the service does not say */
	uint64_t bytes;                                  /* that were sent */
	char rank[16];
	char error[256]; /* why not; may be empty */
};

/* The uploader's arguments, after its name; its socket is worker_process.h's. */
enum { UPLOADER_URL = 1, UPLOADER_TOKEN_FILE, UPLOADER_TIMEOUT_MS, UPLOADER_ARGUMENTS };
#define UPLOADER_NAME "decima-agent-uploader"
