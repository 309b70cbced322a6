// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_fleet - hourly sums without the labels that distinguish instances of a service. No I/O,
 * any thread.
 *
 * The size of these sums does not grow with the number of hosts: a service on a thousand hosts has
 * as many stacks as on one. The sums suffice for queries that neither match nor group by a removed
 * label.
 * The labels that remain are written as labels of the samples, so that a row needs no entry in
 * `series`: all samples of a type belong to one series without labels.
 */
#pragma once

#include "profile/sample_set.h"

/*
 * True if the sums lack that label. Rows already written keep the set of labels that they were
 * written with: a change of the set needs a new rollup_kind.
 */
bool rollup_fleet_lacks(str name);

/* The id of the series to which all samples of a type belong in these sums. */
uint64_t rollup_fleet_series(str type, struct arena *scratch);

/*
 * *ret_fleet: the samples of `sums`, summed without instances. The result lives in the arena and
 * borrows tables and texts from `sums` and `labels`, which must outlive it. labels: the labels of
 * each series of `sums`; a series with NULL items is left out. Series of rollup_fleet_series() are
 * allowed in `sums` and stay as they are. Cannot fail.
 */
void rollup_fleet_fold(const struct sample_set *sums, const struct labels *labels,
		       struct arena *arena, struct sample_set *ret_fleet);
