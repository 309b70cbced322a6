// SPDX-License-Identifier: Apache-2.0
#include "store/reader.h"

#include "profile/profile_type.h"
#include "store/limits.h"
#include "store/reader_match.h"
#include "store/row_scan.h"

#include <assert.h>

#define YEAR_9999_MS UINT64_C(253402300799000)

struct store_window store_window_of(uint64_t start_ms, uint64_t end_ms)
{
	struct store_window window = { .end_ms = end_ms < YEAR_9999_MS ? end_ms : YEAR_9999_MS };

	window.start_ms = start_ms < window.end_ms ? start_ms : window.end_ms;
	window.first_day = (int64_t)(window.start_ms / MS_PER_DAY);
	window.last_day = (int64_t)(window.end_ms / MS_PER_DAY);
	return window;
}

/* A query being answered, row by row, by one connection. */
struct answer {
	const struct store_sink *sink;
	struct store_stats *stats;
	const struct selector *asked;
	struct selector selector; /* its own: one thread per matcher */
	struct reader_match match;
	unsigned int without;
};

static bool wants(void *self, const struct chunk_directory *directory)
{
	const struct answer *answer = self;
	const struct reader_match *match = &answer->match;
	uint32_t never = answer->sink->see ? 0 : reader_match_never(match->selector, directory);

	for (size_t i = 0; i < directory->series_count; i++) {
		const struct directory_series *entry = &directory->series[i];

		if (!reader_match_overlaps(&match->window, entry))
			continue;

		const struct found_series *series = found_get(&match->found, entry->id);

		if (series && !(series->open & never))
			return true;
	}
	return false;
}

static bool take(void *self, str payload, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct answer *answer = self;
	const struct store_sink *sink = answer->sink;
	struct sample_set set;
	uint64_t samples = 0;
	const struct chunk_filter filter = {
		.series = reader_match_series,
		.self = &answer->match,
		.start_ms = answer->match.window.start_ms,
		.end_ms = answer->match.window.end_ms,
		.without = answer->without,
	};

	sample_set_init(&set, &arena);
	if (!chunk_decode(payload, &filter, &set, &samples, err))
		return false;
	if (sink->see && set.samples.len && !sink->see(sink->self, &set, err))
		return false;
	if (!reader_match_samples(&answer->match, &set, &arena, err))
		return false;
	answer->stats->samples_read += samples;
	answer->stats->samples_matched += set.samples.len;
	return set.samples.len == 0 || sink->take(sink->self, &set, err);
}

/* The leader's answer for another connection: what was found is shared, to be read. */
static bool make_helper(struct row_helper *helper, struct store_reader *reader,
			const struct answer *leader, struct answer *answer, struct arena *arena,
			struct err *err)
{
	*helper = (struct row_helper){
		.reader = reader,
		.rows = { .pg = &reader->pg,
			  .bounds = &reader->bounds,
			  .stats = &reader->stats,
			  .take = take,
			  .self = answer },
	};
	answer->stats = &reader->stats;
	reader->stats = (struct store_stats){ 0 };
	if (!selector_parse(leader->asked->text, arena, &answer->selector, err))
		return false;
	answer->match = leader->match;
	answer->match.selector = &answer->selector;
	answer->match.bounds = &reader->bounds;
	return true;
}

/* Whether all that is asked of a sample's labels is answered by its series. */
static bool series_suffices(const struct store_needs *needs, const struct found_series *series)
{
	if (series->open)
		return false;
	for (size_t i = 0; i < needs->label_count; i++)
		if (!labels_get(series->labels, needs->label_names[i]).ptr)
			return false;
	return true;
}

static unsigned int without_of(const struct store_needs *needs, const struct found *found)
{
	unsigned int stacks = needs->no_stacks ? CHUNK_NO_STACKS : 0;

	if (!needs->some_labels)
		return stacks;
	map_for_each(&found->by_id, slot) {
		if (!series_suffices(needs, slot->value))
			return stacks;
	}
	return stacks | CHUNK_NO_LABELS;
}

/* A gauge's sums are of processes: beside labels of the series they have `pid`. */
static bool process_suffices(const struct store_query *query, const struct found_series *series)
{
	const struct store_needs *needs = &query->needs;

	for (size_t i = 0; i < query->selector->matcher_count; i++)
		if (series->open >> i & 1 && !str_eq(query->selector->matchers[i].name, STR("pid")))
			return false;
	for (size_t i = 0; i < needs->label_count; i++)
		if (!str_eq(needs->label_names[i], STR("pid")) &&
		    !labels_get(series->labels, needs->label_names[i]).ptr)
			return false;
	return true;
}

/* Which sums of whole hours say all that is asked; none: an empty array. */
static size_t kinds_of(const struct store_query *query, const struct answer *answer,
		       int32_t ret_kinds[ROLLUP_KIND_COUNT])
{
	size_t count = 0;

	if (!query->needs.no_times)
		return 0;
	if (profile_type_temporality(query->selector->type) == TEMPORALITY_GAUGE) {
		map_for_each(&answer->match.found.by_id, slot) {
			if (!process_suffices(query, slot->value))
				return 0;
		}
		ret_kinds[count++] = ROLLUP_GAUGES;
	} else if (answer->without & CHUNK_NO_LABELS) {
		ret_kinds[count++] = ROLLUP_OLD;
		ret_kinds[count++] = ROLLUP_SERIES;
	}
	return count;
}

/* kinds: the sums of whole hours that are enough. */
static bool read_rows(const struct store_team *team, struct answer *answers, const int32_t *kinds,
		      size_t kind_count, struct arena *arena, struct err *err)
{
	struct row_helper helpers[READERS_MAX];
	const struct store_window *window = &answers[0].match.window;
	const struct row_scan scan = {
		.reader = &team->readers[0],
		.helpers = helpers,
		.helper_count = team->count - 1,
		.start_ms = window->start_ms,
		.end_ms = window->end_ms,
		.first_hour_ms = kind_count ? (window->start_ms + MS_PER_HOUR - 1) / MS_PER_HOUR *
						      MS_PER_HOUR
					    : 0,
		.end_hour_ms = kind_count ? window->end_ms / MS_PER_HOUR * MS_PER_HOUR : 0,
		.kinds = kinds,
		.kind_count = kind_count,
		.buckets = answers[0].match.found.buckets,
		.wants = wants,
		.take = take,
		.self = &answers[0],
	};

	for (size_t i = 1; i < team->count; i++)
		if (!make_helper(&helpers[i - 1], &team->readers[i], &answers[0], &answers[i],
				 arena, err))
			return false;
	return row_scan_run(&scan, err);
}

bool store_team_samples(const struct store_team *team, const struct store_query *query,
			const struct store_sink *sinks, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct store_reader *leader = &team->readers[0];
	struct answer *answers = arena_array(&arena, struct answer, team->count);

	assert(team->count > 0 && team->count <= READERS_MAX);
	for (size_t i = 0; i < team->count; i++)
		answers[i].sink = &sinks[i];
	answers[0].stats = &leader->stats;
	answers[0].asked = query->selector;
	answers[0].match = (struct reader_match){
		.selector = query->selector,
		.window = store_window_of(query->start_ms, query->end_ms),
		.bounds = &leader->bounds,
		.found = { .arena = &arena },
	};

	bool good = reader_match_find(&answers[0].match, leader, err);
	int32_t kinds[ROLLUP_KIND_COUNT];

	for (size_t i = 0; good && i < team->count; i++)
		answers[i].without = without_of(&query->needs, &answers[0].match.found);
	if (good && answers[0].match.found.by_id.len)
		good = read_rows(team, answers, kinds, kinds_of(query, &answers[0], kinds), &arena,
				 err);

	for (size_t i = 1; i < team->count; i++)
		selector_done(&answers[i].selector);
	return good;
}

bool store_reader_samples(struct store_reader *reader, const struct store_query *query,
			  const struct store_sink *sink, struct err *err)
{
	return store_team_samples(&(struct store_team){ reader, 1 }, query, sink, err);
}
