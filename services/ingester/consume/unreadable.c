// SPDX-License-Identifier: Apache-2.0
#include "ingester/consume/unreadable_internal.h"

static enum unreadable_step decide(struct unreadable *unreadable)
{
	int64_t room = unreadable->beyond - unreadable->inside;

	if (room > 1) {
		int64_t half = room / 2;

		unreadable->next =
			unreadable->inside + (unreadable->step < half ? unreadable->step : half);
		unreadable->step *= 2;
		unreadable->is_verifying = false;
		return UNREADABLE_FETCH;
	}
	if (unreadable->inside > unreadable->first && !unreadable->is_verifying) {
		unreadable->next = unreadable->inside;
		unreadable->is_verifying = true;
		return UNREADABLE_FETCH;
	}
	unreadable->next = unreadable->beyond;
	return UNREADABLE_DONE;
}

enum unreadable_step unreadable_inside(struct unreadable *unreadable, int32_t partition,
				       int64_t base, int64_t wanted, int64_t end)
{
	if (unreadable->partition != partition || unreadable->base != base) {
		int64_t first = wanted > base ? wanted : base;

		*unreadable = (struct unreadable){ .partition = partition,
						   .first = first,
						   .base = base,
						   .inside = first,
						   .beyond = end > first ? end : first + 1,
						   .step = 1 };
	} else if (unreadable->next < unreadable->beyond) {
		unreadable->inside = unreadable->next;
	}
	return decide(unreadable);
}

enum unreadable_step unreadable_outside(struct unreadable *unreadable, int64_t offset)
{
	int64_t outside = offset < unreadable->next ? offset : unreadable->next;

	if (outside <= unreadable->first)
		outside = unreadable->first + 1; /* the error before was of this batch */
	unreadable->beyond = outside;
	if (unreadable->inside >= outside) {
		/* That response was of an earlier fetch. Only `first` is certain to be inside. */
		unreadable->inside = unreadable->first;
		unreadable->step = 1;
	}
	unreadable->is_verifying = false;
	return decide(unreadable);
}
