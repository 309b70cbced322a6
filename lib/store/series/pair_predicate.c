// SPDX-License-Identifier: Apache-2.0
#include "profile/regex_hint.h"
#include "store/label_pair.h"
#include "store/series/pair_predicate_internal.h"

static void add(struct pair_predicate *predicate, str name, str value, size_t room,
		struct arena *arena)
{
	int64_t id = label_pair_id(name, value, arena);
	void **seen =
		map_at(&predicate->set, str_copy(arena, (str){ (const char *)&id, sizeof(id) }));

	if (*seen)
		return;
	*seen = predicate;
	if (!predicate->ids) {
		predicate->ids = arena_array(arena, int64_t, room);
		predicate->values = arena_array(arena, str, room);
	}
	predicate->ids[predicate->count] = id;
	predicate->values[predicate->count++] = str_copy(arena, value);
}

static void begin(struct pair_predicate *predicate, const struct matcher *matcher,
		  struct arena *arena)
{
	*predicate = (struct pair_predicate){ .is_resolved = true,
					      .excludes = matcher_matches_empty(matcher),
					      .set.arena = arena };
}

static void add_literals(struct pair_predicate *predicate, const struct matcher *matcher,
			 struct arena *arena)
{
	struct regex_hint hint = regex_hint_of(matcher->value, arena);
	bool has_empty = false;

	for (size_t i = 0; i < hint.literal_count; i++)
		has_empty = has_empty || hint.literals[i].len == 0;
	/* If "" is one of the literals, it is the other values that must be absent. */
	if (!hint.literals || has_empty)
		return;
	begin(predicate, matcher, arena);
	for (size_t i = 0; i < hint.literal_count; i++)
		add(predicate, matcher->name, hint.literals[i], hint.literal_count, arena);
}

void pair_predicate_from_literals(struct pair_predicate *predicate, const struct matcher *matcher,
				  struct arena *arena)
{
	*predicate = (struct pair_predicate){ 0 };
	switch (matcher->op) {
	case MATCH_EQ:
	case MATCH_NE:
		if (matcher->value.len == 0)
			return;
		begin(predicate, matcher, arena);
		add(predicate, matcher->name, matcher->value, 1, arena);
		return;
	case MATCH_RE:
	case MATCH_NOT_RE:
		add_literals(predicate, matcher, arena);
		return;
	case MATCH_OP_COUNT:
		return;
	}
}

/* True if the predicate consists of values that the expression matches, not of the others. */
static bool has_matching_values(const struct matcher *matcher)
{
	bool is_regex = matcher->op == MATCH_RE || matcher->op == MATCH_NOT_RE;

	return is_regex && (matcher->op == MATCH_RE) != matcher_matches_empty(matcher);
}

static bool range_of(const struct matcher *matcher, struct arena *arena, str *ret_first,
		     str *ret_end)
{
	return has_matching_values(matcher) &&
	       regex_hint_range(regex_hint_of(matcher->value, arena).prefix, arena, ret_first,
				ret_end);
}

bool pair_predicate_has_prefix(const struct matcher *matcher, struct arena *arena)
{
	str first, end;

	return range_of(matcher, arena, &first, &end);
}

/* A LIKE pattern that every matching value satisfies; false: there is no such pattern. */
static bool pattern_of(const struct matcher *matcher, struct arena *arena, str *ret_pattern)
{
	struct buf pattern = { .arena = arena };
	str inside = regex_hint_of(matcher->value, arena).inside;

	/* One or two letters occur in most values. */
	if (!has_matching_values(matcher) || inside.len < 3)
		return false;
	buf_u8(&pattern, '%');
	for (size_t i = 0; i < inside.len; i++) {
		if (strchr("%_\\", inside.ptr[i]))
			buf_u8(&pattern, '\\');
		buf_u8(&pattern, (uint8_t)inside.ptr[i]);
	}
	buf_u8(&pattern, '%');
	*ret_pattern = buf_bytes(&pattern);
	return true;
}

#define VALUES                                                                               \
	"SELECT DISTINCT value FROM label_pair WHERE day BETWEEN $1 AND $2 AND name = $3 %s" \
	"ORDER BY value LIMIT nullif($4, 0)%c"

/*
 * The distinct values that may belong to the predicate, sorted. With a limit, LIKE is not used: it
 * is faster to notice that there are too many values than to filter them.
 */
static bool read_values(const struct matcher *matcher, const struct pair_value_source *source,
			size_t most, struct postgres_rows *rows, struct err *err)
{
	struct buf sql = { .arena = source->arena };
	struct postgres_param params[6] = {
		source->days[0],
		source->days[1],
		postgres_text(matcher->name),
		postgres_i64(source->arena, most ? (int64_t)most + 1 : 0),
	};
	str first, end;

	if (range_of(matcher, source->arena, &first, &end)) {
		params[4] = postgres_text(first);
		params[5] = postgres_text(end);
		buf_format(&sql, VALUES, "AND value >= $5 AND value < $6 ", '\0');
		return postgres_query(source->pg, sql.ptr, params, 6, rows, err);
	}
	if (!most && pattern_of(matcher, source->arena, &first)) {
		params[4] = postgres_text(first);
		buf_format(&sql, VALUES, "AND value LIKE $5 ", '\0');
		return postgres_query(source->pg, sql.ptr, params, 5, rows, err);
	}
	buf_format(&sql, VALUES, "", '\0');
	return postgres_query(source->pg, sql.ptr, params, 4, rows, err);
}

bool pair_predicate_load(struct pair_predicate *predicate, const struct matcher *matcher,
			 const struct pair_value_source *source, size_t most, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!read_values(matcher, source, most, &rows, err))
		return false;
	if (most && rows.count > most)
		return true;
	begin(predicate, matcher, source->arena);
	for (size_t i = 0; i < rows.count; i++) {
		str value = postgres_get(&rows, i, 0);
		bool matches;

		/* An expression may take milliseconds per value, but most take less time than
		 * reading the clock. */
		if ((i % 16 == 0 && !store_bounds_check(source->bounds, err)) ||
		    !matcher_matches(matcher, value, &matches, err))
			return false;
		if (matches != predicate->excludes)
			add(predicate, matcher->name, value, rows.count, source->arena);
	}
	return true;
}

bool pair_predicate_matches(const struct pair_predicate *predicate, const int64_t *pairs,
			    size_t count)
{
	for (size_t i = 0; predicate->count && i < count; i++)
		if (map_get(&predicate->set, (str){ (const char *)&pairs[i], sizeof(pairs[i]) }))
			return !predicate->excludes;
	return predicate->excludes;
}
