// SPDX-License-Identifier: Apache-2.0
#include "answers_round.h"

#include <inttypes.h>

str round_key(struct arena *arena, const char *kind, const struct build_id *id, uint64_t generation)
{
	return str_format(arena, "decima:%s:1:%s:%" PRIu64, kind, id->text, generation);
}

str round_page_key(struct arena *arena, const struct build_id *id, uint64_t generation,
		   uint64_t page)
{
	return str_format(arena, "decima:names:1:%s:%" PRIu64 ":%" PRIx64, id->text, generation,
			  page);
}

str round_field(struct arena *arena, uint64_t address)
{
	return str_format(arena, "%x", (unsigned int)(address & ((1u << PAGE_BITS) - 1)));
}

void round_add(struct round *round, const str *words, size_t count)
{
	str *copy = arena_array(round->arena, str, count);

	memcpy(copy, words, count * sizeof(*words));
	*vec_push(round->arena, &round->commands) = (struct redis_command){ copy, count };
}
