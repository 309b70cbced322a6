// SPDX-License-Identifier: Apache-2.0
/*
 * unreadable - finds where a batch of messages ends that cannot be unpacked.
 *
 * A compressed batch of some KB may unpack to more than librdkafka will hold, or to nothing at all.
 * Whoever asks for any message of it is told the batch's first offset and nothing else, for ever,
 * and the partition stands still. So one message after another is asked for, in steps that double
 * and then halve, until the last that is in the batch and the first that is not are neighbours:
 *
 *     [2 3 4 5 6] 7 8 9    ask 3: in it, 5: in it, 9: came, 7: came, 6: in it; go on at 7
 *
 * Nothing may be skipped that could have been read, and an answer may be of an earlier question: so
 * the last that is in it is asked for once more. Pure; consumer thread only.
 */
#pragma once

#include "base/base.h"

struct unreadable {
	int32_t partition; /* -1: nothing is sought */
	int64_t next;      /* to be asked for */
	int64_t first;     /* of the messages that cannot be read */
	/* private */
	int64_t base, inside, beyond, step;
	bool is_verifying;
};

enum unreadable_step {
	UNREADABLE_FETCH, /* for `next` */
	UNREADABLE_DONE,  /* messages from `first` to before `next` are lost; go on at `next` */
};

#define UNREADABLE_NONE ((struct unreadable){ .partition = -1 })

/*
 * The batch that begins at `base` holds the offset that was asked for: `wanted`, when nothing is
 * sought yet. `end`: the topic's end, where no batch can reach beyond.
 */
enum unreadable_step unreadable_inside(struct unreadable *unreadable, int32_t partition,
				       int64_t base, int64_t wanted, int64_t end);

/* A message came, or the beginning of another batch: `offset` is outside. */
enum unreadable_step unreadable_outside(struct unreadable *unreadable, int64_t offset);
