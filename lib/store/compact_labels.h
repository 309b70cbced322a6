// SPDX-License-Identifier: Apache-2.0
/*
 * compact_labels - labels of the series whose samples are being summed up.
 */
#pragma once

#include "client/postgres.h"
#include "profile/sample_set.h"

/*
 * ret_labels: of each series of the set, by its id; with NULL items where it is not stored for the
 * day (since 1970, UTC).
 */
bool compact_labels_load(struct postgres *pg, int64_t day, const struct sample_set *set,
			 struct arena *arena, struct labels **ret_labels,
			 struct err *err) MUST_CHECK;
