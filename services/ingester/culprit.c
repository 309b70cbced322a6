// SPDX-License-Identifier: Apache-2.0
#include "culprit.h"

static void search_among(struct culprit *culprit, uint64_t suspects)
{
	culprit->suspects = suspects;
	culprit->limit = suspects > 1 ? suspects / 2 : suspects;
}

enum culprit_step culprit_refused(struct culprit *culprit, uint64_t messages, int32_t partition,
				  int64_t offset)
{
	if (messages == 0)
		return CULPRIT_LOST; /* no message's fault */
	if (messages > 1) {
		search_among(culprit, messages);
		return CULPRIT_SEARCH;
	}
	search_among(culprit, 0);
	if (culprit_find(culprit, partition, offset))
		return CULPRIT_LOST;
	culprit->known[culprit->found++ % CULPRITS_MAX] =
		(struct culprit_message){ .partition = partition, .offset = offset };
	return CULPRIT_FOUND;
}

void culprit_stored(struct culprit *culprit, uint64_t messages)
{
	if (culprit->limit)
		search_among(culprit,
			     culprit->suspects > messages ? culprit->suspects - messages : 0);
}

/* An offset of -1 is no message's. */
void culprit_pass(struct culprit *culprit, int32_t partition, int64_t next)
{
	for (size_t i = 0; i < CULPRITS_MAX; i++)
		if (culprit->known[i].partition == partition && culprit->known[i].offset < next)
			culprit->known[i].offset = -1;
}

struct culprit_message *culprit_find(struct culprit *culprit, int32_t partition, int64_t offset)
{
	for (size_t i = 0; i < CULPRITS_MAX && i < culprit->found; i++)
		if (culprit->known[i].partition == partition && culprit->known[i].offset == offset)
			return &culprit->known[i];
	return NULL;
}
