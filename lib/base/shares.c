// SPDX-License-Identifier: Apache-2.0
#include "base/shares.h"

#include <assert.h>

static uint64_t hash_of(uint64_t owner)
{
	return hash_seeded_u64(owner, hash_seed());
}

uint64_t shares_held_by(const struct shares *shares, struct share_owner owner)
{
	const struct share *found =
		index_find(&shares->by_owner, hash_of(owner.id), each, each.owner == owner.id);

	return found ? found->held : 0;
}

bool shares_has_room(const struct shares *shares, struct share_owner owner, uint64_t places)
{
	uint64_t free = shares->size - shares->held;

	return places <= free && shares_held_by(shares, owner) + places <= free - places;
}

bool shares_take(struct shares *shares, struct share_owner owner, uint64_t places)
{
	assert(owner.class_of < SHARE_CLASSES_MAX);
	if (!shares_has_room(shares, owner, places)) {
		shares->refused[owner.class_of]++;
		return false;
	}

	struct share *share =
		index_at(NULL, &shares->by_owner, hash_of(owner.id), each, each.owner == owner.id);

	share->owner = owner.id;
	share->held += places;
	shares->held += places;
	return true;
}

void shares_release(struct shares *shares, struct share_owner owner, uint64_t places)
{
	struct share *share =
		index_find(&shares->by_owner, hash_of(owner.id), each, each.owner == owner.id);

	assert(share && share->held >= places);
	shares->held -= places;
	share->held -= places;
	if (!share->held)
		index_remove(&shares->by_owner, share);
}

void shares_done(struct shares *shares)
{
	index_done(&shares->by_owner);
	*shares = (struct shares){ .size = shares->size };
}
