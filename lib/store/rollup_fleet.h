// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_fleet - an hour's sums without the labels that tell instances of a service apart. Pure.
 *
 * Their size does not grow with hosts: what runs on a thousand of them has the stacks of one. They
 * answer questions that neither match nor group by what was left out. What is left of a series'
 * labels is written as labels of samples, so that a row needs no entry in `series`; all of a type
 * is one series, without labels.
 */
#pragma once

#include "profile/sample_set.h"

/*
 * Whether the sums lack that label. Rows that were written lack what they lack: if the table of
 * names is ever to change, such sums are a rollup_kind of their own.
 */
bool rollup_fleet_lacks(str name);

/* The series that all samples of a type are of. */
uint64_t rollup_fleet_series(str type, struct arena *scratch);

/*
 * ret_fleet: the samples of `sums`, added up; it borrows from it, and from the arena. labels: of
 * each series of it; NULL items: it is left out. What lacks instances already may be among them,
 * and stays what it is.
 */
void rollup_fleet_fold(const struct sample_set *sums, const struct labels *labels,
		       struct arena *arena, struct sample_set *ret_fleet);
