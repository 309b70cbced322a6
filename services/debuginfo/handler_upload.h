// SPDX-License-Identifier: Apache-2.0
/*
 * handler_upload - PUT /buildid/ID/debuginfo: stores an uploaded debug file.
 *
 * The request's headers decide whether the upload is accepted, before the server responds
 * 100 Continue: 409 already_stored if the stored file is at least as good, 409 in_progress if
 * another client is uploading the same file. The query parameter `rank` states how good the file is
 * (?rank=symtab); the default is dwarf.  The claim is verified: at the end the file must be a
 * complete ELF file with the stated build id, and better than the stored file. ?trusted=false: a
 * user without privileges can have made the file ("debuginfo/replacement.h"). 409 contradicts: the
 * stored file is of another build.
 *
 * One client address may use a part of the upload slots and may send a number of bytes per day; 429
 * beyond. 507: the store is full of files that clients asked for.
 *
 * If a token is configured, an upload must carry it. Only an upload with the token may state a
 * build id for a file that contains none, or replace a better file (?force=true).
 *
 * Any thread.
 */
#pragma once

#include "debuginfo/files.h"
#include "debuginfo/upload_shares.h"
#include "server/http/http.h"

struct handler_upload_options {
	uint64_t max_bytes, timeout_ns;
	/* of one client address; daily_bytes 0: any number ("debuginfo/upload_shares.h") */
	uint64_t daily_bytes;
	unsigned int client_slots;
	const char *token_file; /* empty: uploads need no token */
};

struct handler_upload {
	struct http_stream stream; /* for the route */
	size_t max_bytes;
	/* private */
	struct files *files;
	char token[4097]; /* empty: no token is configured */
	struct upload_shares shares;
};

/* The token is read now; `files` is borrowed as long as requests are handled. ERR_IO or
 * ERR_NOT_FOUND: the token file cannot be read. ERR_INVALID: the token is too short or too long.
 * There is nothing to close. */
bool handler_upload_open(struct handler_upload *handler,
			 const struct handler_upload_options *options, struct files *files,
			 struct err *err) MUST_CHECK;

/* An http_handler, called after the stream has received the whole body; the service is a struct
 * handler_upload. */
void handler_upload_finish(void *service, const struct http_request *req,
			   struct http_response *res);

extern struct metric *const handler_upload_metrics[];
