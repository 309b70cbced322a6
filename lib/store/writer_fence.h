// SPDX-License-Identifier: Apache-2.0
/*
 * writer_fence - the hosts' rows and the partitions' offsets, whose old values are compared.
 */
#pragma once

#include "store/writer_flush.h"

/* Within the transaction: the hosts' rows. A host whose row moved marks its parts. */
bool writer_fence_put_hosts(struct flush *flush, bool *ret_lost, struct err *err) MUST_CHECK;

/* Within the transaction, and last: the offsets. A partition whose row moved is marked. */
bool writer_fence_put_offsets(struct flush *flush, bool *ret_lost, struct err *err) MUST_CHECK;
