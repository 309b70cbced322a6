// SPDX-License-Identifier: Apache-2.0
/*
 * writer_series - upserts series, label pairs and names of sample labels that may be new.
 */
#pragma once

#include "store/write/writer_flush_internal.h"

/*
 * Upserts, in a transaction of its own, the keys that are not in the seen-ids cache, and adds them
 * to the cache after the commit.
 */
bool writer_series_put(struct flush *flush, struct err *err) MUST_CHECK;
