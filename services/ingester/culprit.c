#include "culprit.h"

enum culprit_step culprit_refused(struct culprit *culprit, uint64_t messages, int32_t partition,
				  int64_t offset)
{
	if (messages != 1) {
		culprit->alone = messages;
		return CULPRIT_SEARCH;
	}
	if (culprit_is(culprit, partition, offset))
		return CULPRIT_LOST;
	*culprit = (struct culprit){ culprit->alone ? culprit->alone : 1, true, partition, offset };
	return CULPRIT_FOUND;
}

void culprit_stored(struct culprit *culprit, uint64_t messages)
{
	culprit->alone -= culprit->alone < messages ? culprit->alone : messages;
}

bool culprit_is(const struct culprit *culprit, int32_t partition, int64_t offset)
{
	return culprit->is_known && culprit->partition == partition && culprit->offset == offset;
}
