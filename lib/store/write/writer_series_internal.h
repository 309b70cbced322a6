// SPDX-License-Identifier: Apache-2.0
/*
 * writer_series - upserts series, label pairs and names of sample labels that may be new.
 */
#pragma once

#include "store/write/writer_flush_internal.h"

/*
 * Upserts, in a transaction of its own, what is not in the seen-ids cache, and adds the keys to the
 * cache after the commit. Sets series_new of flush->result and adds to the writer's counters. Call
 * it outside a transaction. ERR_IO: PostgreSQL failed; all upserts are rolled back, and cache and
 * counters are unchanged.
 */
bool writer_series_put(struct flush *flush, struct err *err) MUST_CHECK;
