// SPDX-License-Identifier: Apache-2.0
/*
 * compact_labels - reads the labels of the series that are being rolled up.
 */
#pragma once

#include "client/postgres.h"
#include "profile/sample_set.h"

/*
 * ret_labels: the labels of each series of the set, in its order; NULL items for a series that is
 * not stored for the day (since 1970, UTC). Labels live in the arena.
 */
bool compact_labels_load(struct postgres *pg, int64_t day, const struct sample_set *set,
			 struct arena *arena, struct labels **ret_labels,
			 struct err *err) MUST_CHECK;
