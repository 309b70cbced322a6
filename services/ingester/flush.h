// SPDX-License-Identifier: Apache-2.0
/*
 * flush - hands what is held to the store, when it is time or memory is short.
 *
 * While the store takes nothing, what is held stays; when there is too much of it, reading pauses.
 * Consumer thread only.
 */
#pragma once

#include "consume.h"

/* Flush when it is time or memory is short; after a failure, later. */
void flush_if_due(struct consume *consume);

/* True when everything is stored, or was dropped to be read again. */
bool flush_all(struct consume *consume, struct err *err) MUST_CHECK;
