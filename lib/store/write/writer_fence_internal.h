// SPDX-License-Identifier: Apache-2.0
/*
 * writer_fence - writes the rows of hosts and offsets if they still have the values that were read.
 *
 * Both run inside the flush's transaction, after the COPY: a writer that is stopped while it sends
 * data then holds no lock that others wait for. *ret_lost: a part was marked `lost`; the caller
 * must roll back.
 */
#pragma once

#include "store/write/writer_flush_internal.h"

/* Writes the hosts' rows. If a row has changed, the parts that reference the host are lost. */
bool writer_fence_put_hosts(struct flush *flush, bool *ret_lost, struct err *err) MUST_CHECK;

/* Writes the offsets, as the last statements. If a row has changed, its part is lost. */
bool writer_fence_put_offsets(struct flush *flush, bool *ret_lost, struct err *err) MUST_CHECK;
