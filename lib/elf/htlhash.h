// SPDX-License-Identifier: Apache-2.0
/*
 * htlhash - OpenTelemetry's identifier of an executable without a build id.
 *
 * It is the first half of SHA-256 over the first 4096 bytes of the file, the last 4096 bytes and
 * the length, as the OpenTelemetry semantic conventions define it
 * (process.executable.build_id.htlhash). So profiles of other agents have the same identifier for
 * the same file. Any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { HTLHASH_HEX_LEN = 32 };

typedef struct {
	char hex[HTLHASH_HEX_LEN]; /* no NUL */
} htlhash;

/* The hash of the file at fd, which the caller keeps. ERR_INVALID: not a regular file; ERR_IO: the
 * file cannot be read or became shorter. After a failure *ret_hash is unchanged. */
bool htlhash_of_fd(int fd, htlhash *ret_hash, struct err *err) MUST_CHECK;

/* The hash of a file whose bytes are in memory. Fails only if libcrypto has no SHA-256 (ERR_IO). */
bool htlhash_of_image(str image, htlhash *ret_hash, struct err *err) MUST_CHECK;
