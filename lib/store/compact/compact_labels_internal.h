// SPDX-License-Identifier: Apache-2.0
/*
 * compact_labels - reads the labels of the series that are being rolled up. One thread: that of
 * `pg`.
 */
#pragma once

#include "client/postgres.h"
#include "profile/sample_set.h"

/*
 * *ret_labels: an array with the labels of each series of the set, in the set's order; NULL items
 * for a series that is not stored for the day (days since 1970, UTC). Array and labels live in the
 * arena. The series of the set have their ids. ERR_IO: PostgreSQL failed.
 */
bool compact_labels_load(struct postgres *pg, int64_t day, const struct sample_set *set,
			 struct arena *arena, struct labels **ret_labels,
			 struct err *err) MUST_CHECK;
