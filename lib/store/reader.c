#include "store/reader.h"

#include "base/clock.h"
#include "store/chunk.h"
#include "store/limits.h"
#include "store/reader_window.h"
#include "store/row_scan.h"
#include "store/schema.h"
#include "store/series_find.h"

#define YEAR_9999_MS UINT64_C(253402300799000)

static bool connect(struct store_reader *reader, struct err *err)
{
	const struct postgres_options options = {
		.conninfo = reader->options.postgres,
		.application = "decima-querier",
		.settings = "-c default_transaction_read_only=on -c statement_timeout=60s "
			    "-c idle_in_transaction_session_timeout=60s",
		.deadline_ms = reader->options.wait_ms ? reader->options.wait_ms : QUERY_TIMEOUT_MS,
		.stop = reader->options.stop,
	};

	return postgres_open(&reader->pg, &options, err);
}

bool store_reader_open(struct store_reader *reader, const struct store_reader_options *options,
		       struct err *err)
{
	*reader = (struct store_reader){ .options = *options };
	return connect(reader, err);
}

void store_reader_close(struct store_reader *reader)
{
	postgres_close(&reader->pg);
}

bool store_reader_begin(struct store_reader *reader, struct err *err)
{
	if (!postgres_is_open(&reader->pg)) {
		store_reader_close(reader);
		if (!connect(reader, err))
			return false;
	}
	reader->deadline_ns = clock_monotonic_ns() + QUERY_TIMEOUT_MS * NS_PER_MS;
	/* Before the snapshot is taken: a failure in a transaction would spoil it. */
	return schema_check(&reader->pg, err) &&
	       postgres_exec(&reader->pg, "BEGIN ISOLATION LEVEL REPEATABLE READ", err);
}

void store_reader_end(struct store_reader *reader)
{
	struct err err;

	if (postgres_is_open(&reader->pg) && !postgres_exec(&reader->pg, "ROLLBACK", &err))
		store_reader_close(reader);
}

struct store_window store_window_of(uint64_t start_ms, uint64_t end_ms)
{
	struct store_window window = { .end_ms = end_ms < YEAR_9999_MS ? end_ms : YEAR_9999_MS };

	window.start_ms = start_ms < window.end_ms ? start_ms : window.end_ms;
	window.first_day = (int64_t)(window.start_ms / MS_PER_DAY);
	window.last_day = (int64_t)(window.end_ms / MS_PER_DAY);
	return window;
}

/* A query being answered, row by row. */
struct answer {
	const struct store_query *query;
	const struct store_sink *sink;
	struct store_window window;
	struct store_stats *stats;
	struct found found;
};

/* Matchers that need a label which no sample of the row has: a bit each. */
static uint32_t never_matched(const struct selector *selector,
			      const struct chunk_directory *directory)
{
	uint32_t never = 0;

	for (size_t i = 0; i < selector->matcher_count; i++) {
		const struct matcher *matcher = &selector->matchers[i];
		bool is_there = matcher_matches_empty(matcher);

		for (size_t j = 0; !is_there && j < directory->name_count; j++)
			is_there = str_eq(directory->names[j], matcher->name);
		never |= (uint32_t)!is_there << i;
	}
	return never;
}

static bool wants(void *self, const struct chunk_directory *directory)
{
	const struct answer *answer = self;
	uint32_t never = never_matched(answer->query->selector, directory);

	for (size_t i = 0; i < directory->series_count; i++) {
		const struct directory_series *entry = &directory->series[i];

		if (entry->first_ms >= answer->window.end_ms ||
		    entry->last_ms < answer->window.start_ms)
			continue;

		const struct found_series *series = found_get(&answer->found, entry->id);

		if (series && !(series->open & never))
			return true;
	}
	return false;
}

static bool series_labels(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	const struct found_series *series = found_get(&((struct answer *)self)->found, id);

	if (!series || !str_eq(series->type, type))
		return false;
	*ret_labels = series->labels;
	return true;
}

/* Matchers tried on label sets of one row: each pair is tried once. */
struct trial {
	const struct sample_set *set;
	const struct selector *selector;
	uint32_t *tried, *matched; /* by label set: a bit per matcher */
};

static bool try_labels(struct trial *trial, uint32_t label_set, uint32_t open, struct err *err)
{
	uint32_t untried = open & ~trial->tried[label_set];

	for (size_t i = 0; untried && i < trial->selector->matcher_count; i++) {
		const struct matcher *matcher = &trial->selector->matchers[i];
		bool matches;

		if (!(untried >> i & 1))
			continue;

		str value = labels_get(trial->set->label_sets.items[label_set], matcher->name);

		if (!matcher_matches(matcher, value.ptr ? value : STR(""), &matches, err))
			return false;
		trial->tried[label_set] |= UINT32_C(1) << i;
		trial->matched[label_set] |= (uint32_t)matches << i;
	}
	return true;
}

/* Leave out, in place, the samples whose own labels an open matcher does not match. */
static bool keep_matching(struct answer *answer, struct sample_set *set, struct arena *arena,
			  struct err *err)
{
	struct trial trial = { .set = set, .selector = answer->query->selector };
	uint32_t *open = arena_array(arena, uint32_t, set->series.len);
	uint32_t any = 0;
	size_t kept = 0;

	for (size_t i = 0; i < set->series.len; i++) {
		const struct found_series *series =
			found_get(&answer->found, set->series.items[i].id);

		open[i] = series ? series->open : 0;
		any |= open[i];
	}
	if (!any)
		return true;
	trial.tried = arena_array(arena, uint32_t, set->label_sets.len);
	trial.matched = arena_array(arena, uint32_t, set->label_sets.len);
	for (size_t i = 0; i < set->samples.len; i++) {
		struct sample sample = set->samples.items[i];

		if (!try_labels(&trial, sample.labels, open[sample.series], err))
			return false;
		if ((open[sample.series] & ~trial.matched[sample.labels]) == 0)
			set->samples.items[kept++] = sample;
	}
	set->samples.len = kept;
	return true;
}

static bool take(void *self, str payload, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct answer *answer = self;
	struct sample_set set;
	uint64_t samples = 0;
	const struct chunk_filter filter = {
		.series = series_labels,
		.self = answer,
		.start_ms = answer->window.start_ms,
		.end_ms = answer->window.end_ms,
	};

	sample_set_init(&set, &arena);
	if (!chunk_decode(payload, &filter, &set, &samples, err) ||
	    !keep_matching(answer, &set, &arena, err))
		return false;
	answer->stats->rows++;
	answer->stats->bytes += payload.len;
	answer->stats->samples_read += samples;
	answer->stats->samples_matched += set.samples.len;
	return set.samples.len == 0 || answer->sink->take(answer->sink->self, &set, err);
}

bool store_reader_samples(struct store_reader *reader, const struct store_query *query,
			  const struct store_sink *sink, struct store_stats *stats, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct answer answer = {
		.query = query,
		.sink = sink,
		.window = store_window_of(query->start_ms, query->end_ms),
		.stats = stats,
		.found = { .arena = &arena },
	};
	const struct row_scan scan = {
		.pg = &reader->pg,
		.start_ms = answer.window.start_ms,
		.end_ms = answer.window.end_ms,
		.deadline_ns = reader->deadline_ns,
		.buckets = answer.found.buckets,
		.wants = wants,
		.take = take,
		.self = &answer,
	};

	if (!series_find(&reader->pg, query->selector, answer.window.first_day,
			 answer.window.last_day, &answer.found, err))
		return false;
	stats->series += answer.found.by_id.len;
	return answer.found.by_id.len == 0 || row_scan_run(&scan, err);
}
