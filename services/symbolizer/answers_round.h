// SPDX-License-Identifier: Apache-2.0
/*
 * answers_round - commands to Redis while they are put together, and what they speak of.
 */
#pragma once

#include "base/vec.h"
#include "client/redis.h"
#include "object/build_id.h"
#include "pages.h"

struct round {
	struct arena *arena;
	VEC(struct redis_command) commands;
};

/* The key of a build id's reason or lock; of the answers of a page. */
str round_key(struct arena *arena, const char *kind, const struct build_id *id,
	      uint64_t generation);
str round_page_key(struct arena *arena, const struct build_id *id, uint64_t generation,
		   uint64_t page);

/* Where an address is within its page. */
str round_field(struct arena *arena, uint64_t address);

/* One more command; the array of its words is copied. */
void round_add(struct round *round, const str *words, size_t count);

#define ROUND_ADD(round, ...)                            \
	round_add((round), (const str[]){ __VA_ARGS__ }, \
		  sizeof((const str[]){ __VA_ARGS__ }) / sizeof(str))
