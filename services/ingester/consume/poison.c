// SPDX-License-Identifier: Apache-2.0
#include "ingester/consume/poison_internal.h"

static void set_suspects(struct poison *poison, uint64_t suspects)
{
	poison->suspects = suspects;
	poison->limit = suspects > 1 ? suspects / 2 : suspects;
}

enum poison_step poison_flush_rejected(struct poison *poison, uint64_t messages, int32_t partition,
				       int64_t offset)
{
	if (messages == 0)
		return POISON_NOT_FOUND; /* no message is at fault */
	if (messages > 1) {
		set_suspects(poison, messages);
		return POISON_BISECT;
	}
	set_suspects(poison, 0);
	if (poison_find(poison, partition, offset))
		return POISON_NOT_FOUND;
	poison->messages[poison->found++ % POISON_MESSAGES_MAX] =
		(struct poison_message){ .partition = partition, .offset = offset };
	return POISON_FOUND;
}

void poison_flush_stored(struct poison *poison, uint64_t messages)
{
	if (poison->limit)
		set_suspects(poison, poison->suspects > messages ? poison->suspects - messages : 0);
}

/* An offset of -1 marks a free entry. */
void poison_advance(struct poison *poison, int32_t partition, int64_t next)
{
	for (size_t i = 0; i < POISON_MESSAGES_MAX; i++)
		if (poison->messages[i].partition == partition && poison->messages[i].offset < next)
			poison->messages[i].offset = -1;
}

struct poison_message *poison_find(struct poison *poison, int32_t partition, int64_t offset)
{
	for (size_t i = 0; i < POISON_MESSAGES_MAX && i < poison->found; i++)
		if (poison->messages[i].partition == partition &&
		    poison->messages[i].offset == offset)
			return &poison->messages[i];
	return NULL;
}
