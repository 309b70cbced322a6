// SPDX-License-Identifier: Apache-2.0
#include "store/read/sample_reader.h"

#include "profile/profile_type.h"
#include "store/limits.h"
#include "store/read/query_match_internal.h"
#include "store/read/rollup_choice_internal.h"
#include "store/read/sample_gaps_internal.h"
#include "store/read/step_sums_internal.h"
#include "store/scan/row_scan.h"

#include <assert.h>

/* The state of one connection that reads samples. */
struct sample_connection {
	const struct store_sink *sink;
	struct store_stats *stats;
	const struct selector *original;
	struct selector selector; /* a copy: a matcher is used by one thread */
	struct query_match match;
	unsigned int without;
	/* Of the leader: sum over steps of this length from this time on; 0: no steps. */
	uint64_t steps_start_ms, step_ms;
	struct step_sums steps; /* of the leader, for one scan */
};

static bool wants_payload(void *self, const struct chunk_directory *directory, bool *ret_series)
{
	struct sample_connection *connection = self;
	const struct query_match *match = &connection->match;
	bool any = false;

	if (connection->steps.step_ms && step_sums_add(&connection->steps, directory))
		return false;

	uint32_t never =
		connection->sink->on_candidates ? 0 : query_match_never(match->selector, directory);

	for (size_t i = 0; i < directory->series_count; i++) {
		const struct directory_series *entry = &directory->series[i];

		if (!store_window_overlaps(&match->window, entry->first_ms, entry->last_ms))
			continue;

		const struct series_match *series = matched_series_get(&match->matched, entry->id);

		ret_series[i] = match->everything || (series && !(series->open & never));
		any = any || ret_series[i];
	}
	return any;
}

static bool read_payload(void *self, const struct row_fragment *fragment, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct sample_connection *connection = self;
	const struct store_sink *sink = connection->sink;
	struct sample_set set;
	uint64_t samples = 0;
	const struct chunk_filter filter = {
		.series = query_match_series,
		.self = &connection->match,
		.start_ms = connection->match.window.start_ms,
		.end_ms = connection->match.window.end_ms,
		.without = connection->without,
		.slices = fragment->slices,
	};

	sample_set_init(&set, &arena);
	if (!chunk_decode(fragment->bytes, &filter, &set, &samples, err))
		return false;
	if (sink->on_candidates && set.samples.len && !sink->on_candidates(sink->self, &set, err))
		return false;
	if (!query_match_samples(&connection->match, &set, &arena, err))
		return false;
	connection->stats->samples_read += samples;
	connection->stats->samples_matched += set.samples.len;
	return set.samples.len == 0 || sink->on_samples(sink->self, &set, err);
}

/* Copies the leader's state for a worker, which only reads the matched series. */
static bool init_worker(struct scan_worker *worker, struct store_reader *reader,
			const struct sample_connection *leader,
			struct sample_connection *connection, struct arena *arena, struct err *err)
{
	*worker = (struct scan_worker){
		.reader = reader,
		.rows = { .pg = &reader->pg,
			  .bounds = &reader->bounds,
			  .stats = &reader->stats,
			  .on_payload = read_payload,
			  .self = connection },
	};
	connection->stats = &reader->stats;
	reader->stats = (struct store_stats){ 0 };
	selector_done(&connection->selector); /* of the previous scan */
	if (!selector_parse(leader->original->text, arena, &connection->selector, err))
		return false;
	connection->match = leader->match;
	connection->match.selector = &connection->selector;
	connection->match.bounds = &reader->bounds;
	return true;
}

/* The scan of the leader's window. kinds: the sums of whole hours that suffice. */
static struct row_scan scan_of(const struct store_parallel_readers *group,
			       struct sample_connection *leader, const int32_t *kinds,
			       size_t kind_count)
{
	const struct store_window *window = &leader->match.window;
	struct row_scan scan = {
		.reader = &group->readers[0],
		.plan = scan_plan_make(window->start_ms, window->end_ms, kinds, kind_count),
		.wants_payload = wants_payload,
		.on_payload = read_payload,
		.self = leader,
	};

	scan.plan.buckets = leader->match.everything ? NULL : leader->match.matched.buckets;
	return scan;
}

static bool read_rows(const struct store_parallel_readers *group,
		      struct sample_connection *connections, const struct row_scan *base,
		      unsigned int without, struct arena *arena, struct err *err)
{
	struct scan_worker workers[READERS_MAX];
	struct row_scan scan = *base;

	scan.workers = workers;
	scan.worker_count = group->count - 1;
	connections[0].without = without;
	/* If every series matches, only the payload has the type of a series. */
	connections[0].steps = (struct step_sums){
		.start_ms = connections[0].steps_start_ms,
		.step_ms = without & CHUNK_NO_LABELS && !connections[0].match.everything
				   ? connections[0].step_ms
				   : 0,
		.match = &connections[0].match,
		.sink = connections[0].sink,
		.stats = connections[0].stats,
	};
	for (size_t i = 1; i < group->count; i++) {
		connections[i].without = without;
		if (!init_worker(&workers[i - 1], &group->readers[i], &connections[0],
				 &connections[i], arena, err))
			return false;
	}
	return step_sums_end(&connections[0].steps, row_scan_run(&scan, err), err);
}

/* Finds series on these days, one range of consecutive days at a time. */
static bool find_on_days(struct query_match *match, struct store_reader *reader,
			 const int64_t *days, size_t count, struct err *err)
{
	const struct store_window window = match->window;
	bool good = true;

	for (size_t i = 0, end; good && i < count; i = end) {
		for (end = i + 1; end < count && days[end] == days[end - 1] + 1; end++)
			;
		match->window.first_day = days[i];
		match->window.last_day = days[end - 1];
		good = query_match_find(match, reader, err);
	}
	match->window = window;
	return good;
}

/*
 * Reads whole hours and days from sums without instances. Only the remainder of the window needs
 * series, and finding them is expensive: many hosts have many series per day.
 */
static bool read_fleet_sums(const struct store_parallel_readers *group,
			    struct sample_connection *connections,
			    const struct rollup_choice *choice, struct arena *arena,
			    struct err *err)
{
	static const int32_t alone[] = { ROLLUP_ALONE }, fleet[] = { ROLLUP_FLEET };
	struct query_match *match = &connections[0].match;
	struct row_scan remainder = scan_of(group, &connections[0], alone, ARRAY_LEN(alone));
	int64_t *days = NULL;
	size_t day_count = 0;

	if (choice->needs.daily_sums)
		scan_plan_use_days(&remainder.plan);
	remainder.plan.buckets = NULL; /* not known yet */
	if (!match->everything && (!row_scan_days(&remainder, arena, &days, &day_count, err) ||
				   !find_on_days(match, &group->readers[0], days, day_count, err)))
		return false;
	remainder.plan.buckets = match->everything ? NULL : match->matched.buckets;
	if ((match->everything || match->matched.by_id.len) &&
	    !read_rows(group, connections, &remainder,
		       rollup_choice_without(choice, &match->matched), arena, err))
		return false;
	rollup_choice_fleet(match->selector, &match->matched);

	struct row_scan hours = scan_of(group, &connections[0], fleet, ARRAY_LEN(fleet));

	hours.plan.sums_alone = true;
	if (choice->needs.daily_sums)
		scan_plan_use_days(&hours.plan);
	return sample_gaps_find(hours.reader, &hours.plan, err) &&
	       read_rows(group, connections, &hours, choice->needs.stacks ? 0 : CHUNK_NO_STACKS,
			 arena, err);
}

static bool read_by_series(const struct store_parallel_readers *group,
			   struct sample_connection *connections, const struct store_query *query,
			   const struct rollup_choice *choice, struct arena *arena, struct err *err)
{
	struct query_match *match = &connections[0].match;
	int32_t kinds[ROLLUP_KIND_COUNT];

	if (!match->everything && !query_match_find(match, &group->readers[0], err))
		return false;
	if (!match->everything && match->matched.by_id.len == 0)
		return true;

	size_t kind_count = rollup_choice_kinds(query, choice, &match->matched, kinds);
	struct row_scan scan = scan_of(group, &connections[0], kinds, kind_count);

	return sample_gaps_find(scan.reader, &scan.plan, err) &&
	       read_rows(group, connections, &scan, rollup_choice_without(choice, &match->matched),
			 arena, err);
}

/*
 * A query for all CPU time without any label does not need to find a million series. This does not
 * pay for other types: most rows do not have them, and only the series ids reveal that.
 */
static bool matches_every_series(const struct store_query *query, const struct query_needs *needs,
				 const struct store_sink *sink)
{
	return !needs->sample_labels && !needs->series_labels &&
	       query->projection.label_count == 0 && !sink->on_candidates &&
	       query->selector->matcher_count == 0 &&
	       str_eq(query->selector->type, STR(PROFILE_TYPE_CPU));
}

bool store_parallel_samples(const struct store_parallel_readers *group,
			    const struct store_query *query, const struct store_sink *sinks,
			    struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct store_reader *leader = &group->readers[0];
	struct sample_connection *connections =
		arena_array(&arena, struct sample_connection, group->count);
	const struct query_needs needs = query_needs_of(query);
	struct rollup_choice choice;

	assert(group->count > 0 && group->count <= READERS_MAX);
	leader->gap_count = 0;
	for (size_t i = 0; i < group->count; i++)
		connections[i].sink = &sinks[i];
	connections[0].stats = &leader->stats;
	connections[0].original = query->selector;
	connections[0].steps_start_ms = query->projection.steps_start_ms;
	connections[0].step_ms = sinks->on_candidates ? 0 : needs.step_ms;
	connections[0].match = (struct query_match){
		.selector = query->selector,
		.window = store_window_of(query->start_ms, query->end_ms),
		.bounds = &leader->bounds,
		.everything = matches_every_series(query, &needs, sinks),
		.matched = { .arena = &arena,
			     .limits_series_labels = !needs.series_labels && !sinks->on_candidates,
			     .label_names = query->projection.label_names,
			     .label_count = query->projection.label_count },
	};

	bool good = rollup_choice_make(query, &connections[0].match.window, leader, &arena, &choice,
				       err);

	if (good && choice.is_fleet)
		good = read_fleet_sums(group, connections, &choice, &arena, err);
	else if (good)
		good = read_by_series(group, connections, query, &choice, &arena, err);
	for (size_t i = 1; i < group->count; i++)
		selector_done(&connections[i].selector);
	return good;
}

bool store_reader_samples(struct store_reader *reader, const struct store_query *query,
			  const struct store_sink *sink, struct err *err)
{
	return store_parallel_samples(&(struct store_parallel_readers){ reader, 1 }, query, sink,
				      err);
}
