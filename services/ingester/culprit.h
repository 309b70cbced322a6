/*
 * culprit - finds the message whose data PostgreSQL refuses.
 *
 * Nothing that the decoder lets through should be refused; but if it were, the flush that holds it
 * would fail for ever, and all partitions with it. So all is dropped and read again, and as many
 * messages as were held are flushed one by one. The flush that is refused then has the culprit
 * alone: it is read once more and rejected. Pure; consumer thread only.
 */
#pragma once

#include "base/base.h"

struct culprit {
	uint64_t alone; /* messages still to be flushed one by one; 0: the usual way */
	bool is_known;
	int32_t partition; /* of the culprit, when it is known */
	int64_t offset;
};

enum culprit_step {
	CULPRIT_SEARCH, /* drop all and read it again: it will be flushed one by one */
	CULPRIT_FOUND,  /* drop all and read it again: the culprit will be rejected */
	CULPRIT_LOST,   /* it was rejected and the flush is refused still: wait, as for an outage */
};

/* A flush of `messages` was refused; the last of them, if it is one, stands at the offset. */
enum culprit_step culprit_refused(struct culprit *culprit, uint64_t messages, int32_t partition,
				  int64_t offset);

/* A flush was stored while messages are flushed one by one. */
void culprit_stored(struct culprit *culprit, uint64_t messages);

bool culprit_is(const struct culprit *culprit, int32_t partition, int64_t offset);
