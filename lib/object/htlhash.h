// SPDX-License-Identifier: Apache-2.0
/*
 * htlhash - OpenTelemetry's name for an executable that has no build id.
 *
 * The first half of SHA-256 over the file's head, its tail and its length, as the semantic
 * conventions define it (process.executable.build_id.htlhash), so that other agents' profiles of
 * the same file meet ours.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { HTLHASH_HEX_LEN = 32 };

typedef struct {
	char hex[HTLHASH_HEX_LEN]; /* no NUL */
} htlhash;

bool htlhash_of_fd(int fd, htlhash *ret_hash, struct err *err) MUST_CHECK;
bool htlhash_of_image(str image, htlhash *ret_hash, struct err *err) MUST_CHECK;
