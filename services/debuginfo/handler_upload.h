// SPDX-License-Identifier: Apache-2.0
/*
 * upload - PUT /buildid/ID/debuginfo: a file comes into the store, or is told that it need not.
 *
 * Whether it is wanted is decided by the headers, before the client is told to go on: 409 have_it
 * where what is held is as good, 409 in_progress while another one sends the same. A client may say
 * how good its file is (?rank=symtab); who does not say is taken to bring DWARF. Nothing that it
 * says is believed in the end: the file must be a whole ELF file of that build id, and better than
 * what is held. With a token set, only who has it may upload, and may then state the id of a file
 * that has none, or replace a better file (?force=true).
 */
#pragma once

#include "chassis/http.h"
#include "files.h"

struct handler_upload_options {
	uint64_t max_bytes, timeout_ns;
	const char *token_file; /* empty: everyone may upload */
};

struct handler_upload {
	struct http_stream stream; /* for the route */
	size_t max_bytes;
	/* private */
	struct files *files;
	char token[4097]; /* empty: none */
	_Atomic unsigned int running;
};

bool handler_upload_open(struct handler_upload *upload,
			 const struct handler_upload_options *options, struct files *files,
			 struct err *err) MUST_CHECK;

/* An http_handler, after the stream. */
void handler_upload_finish(void *service, const struct http_request *req,
			   struct http_response *res);

enum { HANDLER_UPLOAD_METRICS = 3 };
extern struct metric *const handler_upload_metrics[HANDLER_UPLOAD_METRICS];
