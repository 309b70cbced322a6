// SPDX-License-Identifier: Apache-2.0
/*
 * htlhash - OpenTelemetry's identifier of an executable without a build id.
 *
 * It is the first half of SHA-256 over the first 4096 bytes of the file, the last 4096 bytes and
 * the length, as the OpenTelemetry semantic conventions define it
 * (process.executable.build_id.htlhash). So profiles of other agents have the same identifier for
 * the same file.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { HTLHASH_HEX_LEN = 32 };

typedef struct {
	char hex[HTLHASH_HEX_LEN]; /* no NUL */
} htlhash;

/* ERR_INVALID: not a regular file; ERR_IO: the file cannot be read or became shorter. */
bool htlhash_of_fd(int fd, htlhash *ret_hash, struct err *err) MUST_CHECK;
bool htlhash_of_image(str image, htlhash *ret_hash, struct err *err) MUST_CHECK;
