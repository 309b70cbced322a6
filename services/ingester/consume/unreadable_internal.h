// SPDX-License-Identifier: Apache-2.0
/*
 * unreadable - finds the end of a record batch that cannot be decompressed.
 *
 * A compressed batch of some KB may decompress to more than librdkafka accepts, or be corrupt. A
 * fetch of any message in it returns only an error with the batch's first offset, every time, and
 * the partition is stuck. So single offsets are fetched, in steps that double and then halve, until
 * the last offset inside the batch and the first one outside it are neighbours:
 *
 *     [2 3 4 5 6] 7 8 9    fetch 3: inside, 5: inside, 9: read, 7: read, 6: inside; continue at 7
 *
 * No readable message may be skipped, and a response may belong to an earlier fetch. So the last
 * offset inside is fetched once more before the search ends. No I/O: the caller fetches. The
 * functions cannot fail. Consumer thread only.
 */
#pragma once

#include "base/base.h"

struct unreadable {
	int32_t partition; /* -1: no search is running; start with UNREADABLE_NONE */
	int64_t next;      /* the offset to fetch */
	int64_t first;     /* offset of the first message that cannot be read */
	/* private */
	int64_t base, inside, beyond, step;
	bool is_verifying; /* the last offset inside is being fetched once more */
};

enum unreadable_step {
	UNREADABLE_FETCH, /* fetch `next` */
	UNREADABLE_DONE,  /* messages [first, next) are lost; continue at `next` */
};

#define UNREADABLE_NONE ((struct unreadable){ .partition = -1 })

/*
 * Call it if the fetched offset is inside the batch that begins at `base`. If no search of that
 * batch is running, starts a search: `wanted` is the first offset that the caller has to read.
 * `end`: the offset after the partition's last message, an upper bound of the batch's end.
 */
enum unreadable_step unreadable_inside(struct unreadable *unreadable, int32_t partition,
				       int64_t base, int64_t wanted, int64_t end);

/*
 * Call it if `offset` is outside the batch: a message was read there, or another batch begins
 * there. A search must be running.
 */
enum unreadable_step unreadable_outside(struct unreadable *unreadable, int64_t offset);
