// SPDX-License-Identifier: Apache-2.0
#include "store/pair_choice.h"

#include "profile/regex_hint.h"
#include "store/label_pair.h"

static void add(struct pair_choice *choice, str name, str value, size_t room, struct arena *arena)
{
	int64_t id = label_pair_id(name, value, arena);
	void **seen = map_at(&choice->set, str_copy(arena, (str){ (const char *)&id, sizeof(id) }));

	if (*seen)
		return;
	*seen = choice;
	if (!choice->ids) {
		choice->ids = arena_array(arena, int64_t, room);
		choice->values = arena_array(arena, str, room);
	}
	choice->ids[choice->count] = id;
	choice->values[choice->count++] = str_copy(arena, value);
}

static void begin(struct pair_choice *choice, const struct matcher *matcher, struct arena *arena)
{
	*choice = (struct pair_choice){ .is_made = true,
					.forbids = matcher_matches_empty(matcher),
					.set.arena = arena };
}

static void choose_literals(struct pair_choice *choice, const struct matcher *matcher,
			    struct arena *arena)
{
	struct regex_hint hint = regex_hint_of(matcher->value, arena);
	bool has_empty = false;

	for (size_t i = 0; i < hint.literal_count; i++)
		has_empty = has_empty || hint.literals[i].len == 0;
	/* With "" among them it is the values that are not named which must not be there. */
	if (!hint.literals || has_empty)
		return;
	begin(choice, matcher, arena);
	for (size_t i = 0; i < hint.literal_count; i++)
		add(choice, matcher->name, hint.literals[i], hint.literal_count, arena);
}

void pair_choice_plain(struct pair_choice *choice, const struct matcher *matcher,
		       struct arena *arena)
{
	*choice = (struct pair_choice){ 0 };
	switch (matcher->op) {
	case MATCH_EQ:
	case MATCH_NE:
		if (matcher->value.len == 0)
			return;
		begin(choice, matcher, arena);
		add(choice, matcher->name, matcher->value, 1, arena);
		return;
	case MATCH_RE:
	case MATCH_NOT_RE:
		choose_literals(choice, matcher, arena);
		return;
	case MATCH_OP_COUNT:
		return;
	}
}

static bool range_of(const struct matcher *matcher, struct arena *arena, str *ret_first,
		     str *ret_end)
{
	struct regex_hint hint = regex_hint_of(matcher->value, arena);
	bool is_regex = matcher->op == MATCH_RE || matcher->op == MATCH_NOT_RE;
	/* Else what it does not match is looked for. */
	bool looks_for_matches = (matcher->op == MATCH_RE) != matcher_matches_empty(matcher);

	return is_regex && looks_for_matches &&
	       regex_hint_range(hint.prefix, arena, ret_first, ret_end);
}

bool pair_choice_has_prefix(const struct matcher *matcher, struct arena *arena)
{
	str first, end;

	return range_of(matcher, arena, &first, &end);
}

/* Values that may make the choice, sorted, each once. */
static bool read_values(const struct matcher *matcher, const struct pair_source *source,
			size_t most, struct postgres_rows *rows, struct err *err)
{
	static const char all[] = "SELECT DISTINCT value FROM label_pair WHERE day BETWEEN $1 "
				  "AND $2 AND name = $3 ORDER BY value LIMIT nullif($4, 0)";
	static const char some[] = "SELECT DISTINCT value FROM label_pair WHERE day BETWEEN $1 "
				   "AND $2 AND name = $3 AND value >= $5 AND value < $6 "
				   "ORDER BY value LIMIT nullif($4, 0)";
	str first = { 0 }, end = { 0 };
	bool ranged = range_of(matcher, source->arena, &first, &end);
	const struct postgres_param params[] = {
		source->days[0],
		source->days[1],
		postgres_text(matcher->name),
		postgres_i64(source->arena, most ? (int64_t)most + 1 : 0),
		postgres_text(first),
		postgres_text(end),
	};

	return postgres_query(source->pg, ranged ? some : all, params, ranged ? 6 : 4, rows, err);
}

bool pair_choice_look_up(struct pair_choice *choice, const struct matcher *matcher,
			 const struct pair_source *source, size_t most, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!read_values(matcher, source, most, &rows, err))
		return false;
	if (most && rows.count > most)
		return true;
	begin(choice, matcher, source->arena);
	for (size_t i = 0; i < rows.count; i++) {
		str value = postgres_get(&rows, i, 0);
		bool matches;

		/* An expression may take some milliseconds for each value, most take less than
		 * the clock does. */
		if ((i % 16 == 0 && !store_bounds_hold(source->bounds, err)) ||
		    !matcher_matches(matcher, value, &matches, err))
			return false;
		if (matches != choice->forbids)
			add(choice, matcher->name, value, rows.count, source->arena);
	}
	return true;
}

bool pair_choice_admits(const struct pair_choice *choice, const int64_t *pairs, size_t count)
{
	for (size_t i = 0; choice->count && i < count; i++)
		if (map_get(&choice->set, (str){ (const char *)&pairs[i], sizeof(pairs[i]) }))
			return !choice->forbids;
	return choice->forbids;
}
