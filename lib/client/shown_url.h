// SPDX-License-Identifier: Apache-2.0
/*
 * shown_url - a URL as it may appear in a log or an error: without user and password.
 *
 * Pure; any thread; no function fails.
 */
#pragma once

#include "base/str.h"

/* Replaces everything between "://" and the last "@" of the authority (RFC 3986, 3.2) with "...".
 * A text without user information is returned as it is. The result is in the arena or borrowed
 * from `url`, and is terminated if `url` is. */
str shown_url(str url, struct arena *arena);
