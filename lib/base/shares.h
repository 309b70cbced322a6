// SPDX-License-Identifier: Apache-2.0
/*
 * shares - divides the places of a table among owners, so that no owner can use up the table.
 *
 * An owner may hold at most as many places as are free afterwards (the "dynamic threshold" of
 * shared packet buffers). One owner alone gets half of the table, N greedy owners get 1 / (N + 1)
 * each, and one share always stays free for an owner that comes later. Owners that need little are
 * never limited. The last place is never taken.
 *
 *     struct shares shares = { .size = TABLE_MAX };
 *     if (!shares_take(&shares, item->owner, 1))
 *             return NULL;
 *     ...
 *     shares_release(&shares, item->owner, 1);
 *
 * A zeroed struct with a size is valid and empty; shares_done() frees it. No function fails. One
 * thread.
 */
#pragma once

#include "base/hash.h"
#include "base/index.h"

enum { SHARE_CLASSES_MAX = 4 };

/* Who holds places. The caller defines the classes, for counters. */
struct share_owner {
	uint64_t id;
	uint32_t class_of; /* below SHARE_CLASSES_MAX */
};

/* private */
struct share {
	uint64_t owner, held;
};

struct shares {
	uint64_t size, held;
	uint64_t refused[SHARE_CLASSES_MAX]; /* cumulative, by class of the owner */
	/* private */
	INDEX(struct share) by_owner; /* of those that hold something */
};

/* False: the owner has its share; that is counted. True: the owner holds `places` more. */
bool shares_take(struct shares *shares, struct share_owner owner, uint64_t places) MUST_CHECK;

/* Releases what was taken. */
void shares_release(struct shares *shares, struct share_owner owner, uint64_t places);

/* The places that the owner holds. */
uint64_t shares_held_by(const struct shares *shares, struct share_owner owner);

/* What shares_take() would return; nothing is counted or taken. */
bool shares_has_room(const struct shares *shares, struct share_owner owner, uint64_t places);

void shares_done(struct shares *shares);
