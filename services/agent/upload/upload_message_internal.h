// SPDX-License-Identifier: Apache-2.0
/*
 * upload_message - the datagrams between the agent and its uploader process.
 *
 * Both programs are of one build and one machine, so the messages are plain structs. A job passes
 * one or two descriptors: the file, and the root directory of the process that mapped it, unless
 * that is our own root.
 */
#pragma once

#include "agent/process/executable.h"

#include <limits.h>

/* The result of an upload. The first ones are final; after the others the upload is retried. */
enum upload_outcome {
	UPLOAD_STORED,
	UPLOAD_HAVE_IT, /* the service has this debug info already */
	UPLOAD_NOTHING, /* the file has no symbols */
	UPLOAD_NO_BUILD_ID,
	UPLOAD_MALFORMED,
	UPLOAD_TOO_LARGE,
	UPLOAD_REFUSED,
	UPLOAD_CRASHED,
	UPLOAD_GAVE_UP,
	UPLOAD_DISK_FULL,   /* deleted files that wait use too much disk space */
	UPLOAD_FINAL_COUNT, /* outcomes before this one are final */
	UPLOAD_IN_PROGRESS = UPLOAD_FINAL_COUNT,
	UPLOAD_BUSY,
	UPLOAD_UNAUTHORIZED,
	UPLOAD_UNREACHABLE,
	UPLOAD_BROKEN_OFF,
	UPLOAD_TIMED_OUT,
	UPLOAD_OUTCOME_COUNT
};

/* A file's own debug info, and the debug info that dwz moved into a common file. */
enum upload_part { UPLOAD_PART_OWN, UPLOAD_PART_COMMON, UPLOAD_PART_COUNT };

struct upload_job_message {
	char build_id[BUILD_ID_TEXT_MAX];
	char path[PATH_MAX]; /* below the process's root */
	bool is_trusted;     /* only root can write the file */
	bool is_done[UPLOAD_PART_COUNT];
};

struct upload_response_message {
	enum upload_outcome outcomes[UPLOAD_PART_COUNT]; /* COUNT: nothing was to be uploaded */
	uint64_t retry_after_s;                          /* 0: not sent by the service */
	uint64_t bytes;                                  /* sent */
	char rank[16];
	char error[256];     /* why the upload failed; may be empty */
	uint32_t parser_end; /* enum sandbox_end of the uploader's file_parser; COUNT: none */
};

/* The uploader's arguments after its name. */
enum {
	UPLOADER_URL = 1,
	UPLOADER_TOKEN_FILE,
	UPLOADER_TIMEOUT_MS,
	UPLOADER_SANDBOX_UID,
	UPLOADER_ARGUMENTS
};
#define UPLOADER_NAME "decima-agent-uploader"
