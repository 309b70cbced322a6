// SPDX-License-Identifier: Apache-2.0
/*
 * writer_fence - the fence of a flush: updates the rows of hosts and of Kafka offsets, but only if
 * they still have the values that were read before.
 *
 * If a row has changed, another ingester has taken over the Kafka partition. The part of the flush
 * with this partition is then marked `lost` ("store/write/writer.h"), together with all parts that
 * share a host with it; no data is lost, since the other ingester stores it.
 *
 * The two functions are called inside the flush's transaction, after the COPY, first for hosts and
 * then for offsets. The row locks are therefore taken last: a writer that hangs while it sends
 * samples holds no lock that other writers wait for. One thread: that of the writer.
 *
 * *ret_lost true: at least one part was marked `lost`; the caller must roll back and repeat the
 * flush without the lost parts. ERR_IO: PostgreSQL failed; *ret_lost is undefined, and the caller
 * must roll back.
 */
#pragma once

#include "store/write/writer_flush_internal.h"

/* Writes the hosts' rows. If a row has another revision than was read, every part that references
 * the host is marked `lost`. */
bool writer_fence_put_hosts(struct flush *flush, bool *ret_lost, struct err *err) MUST_CHECK;

/* Locks, compares and writes the offset rows; COMMIT must follow. If a row has another next offset
 * than was read, its part is marked `lost`. */
bool writer_fence_put_offsets(struct flush *flush, bool *ret_lost, struct err *err) MUST_CHECK;
