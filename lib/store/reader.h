// SPDX-License-Identifier: Apache-2.0
/*
 * reader - finds samples and labels in PostgreSQL. It never writes.
 *
 * Samples are handed to a sink row by row, so a query's memory does not grow with what it reads.
 * All that one reader reads between store_reader_begin() and store_reader_end() is one snapshot.
 * One thread per reader.
 */
#pragma once

#include "client/postgres.h"
#include "profile/sample_set.h"
#include "profile/selector.h"
#include "store/store_bounds.h"
#include "store/store_stats.h"

struct store_reader_options {
	const char *postgres;    /* libpq conninfo or URI; must outlive the reader */
	uint64_t wait_ms;        /* for each answer of the server; 0: as long as a query may take */
	const struct stop *stop; /* ends every wait */
};

/* Of what is in [start_ms, end_ms) only sums of whole hours are left. */
struct store_gap {
	uint64_t start_ms, end_ms;
};

enum { STORE_GAPS_MAX = 2 };

struct store_reader {
	struct store_stats stats; /* since store_reader_begin() */
	/* Of the last query for samples: what is missing from it, for which sums do not suffice. */
	struct store_gap gaps[STORE_GAPS_MAX];
	size_t gap_count;
	/* private */
	struct postgres pg;
	struct store_reader_options options;
	struct store_bounds bounds; /* of what began last */
};

/* What of samples is needed: the less it is, the less is unpacked. {0}: all of it. */
struct store_needs {
	bool no_stacks; /* they come with the empty stack */
	/* Above 0, with no_stacks: samples of a series and step, cut from the window's start on,
	 * may come as their sum, with the time of the first. */
	uint64_t step_ms;
	/* Samples of a whole hour may come as their sum, with the hour's beginning as their time,
	 * where labels of the series are enough; of gauges, with the times of their profiles and
	 * their pid (rollup_gauge.h). */
	bool no_times;
	bool no_hours; /* so may those of a whole day (UTC) */
	/* Of their own labels those of these names, where the series lacks them: without any that
	 * can be such, samples come with none. */
	bool some_labels;
	const str *label_names;
	size_t label_count;
	bool few_labels; /* of the series', too, none but those is needed */
};

/* Which samples. The window is [start_ms, end_ms). */
struct store_query {
	const struct selector *selector; /* NULL, for series alone: of every type */
	uint64_t start_ms, end_ms;
	struct store_needs needs;
};

/* Where samples go; called from one thread at a time. */
struct store_sink {
	/*
	 * The matching samples of one stored row, at least one. Series have their labels; stacks
	 * and label sets that no sample speaks of may be there too. The set lives until this
	 * returns.
	 */
	bool (*take)(void *self, const struct sample_set *set, struct err *err);
	void *self;
	/*
	 * The same before it: also the samples whose own labels the selector does not mean, where
	 * it means their series. May be NULL.
	 */
	bool (*see)(void *self, const struct sample_set *set, struct err *err);
};

/* Connect. */
bool store_reader_open(struct store_reader *reader, const struct store_reader_options *options,
		       struct err *err) MUST_CHECK;
void store_reader_close(struct store_reader *reader);

/*
 * Begin a snapshot; connects again where the connection was lost. ERR_NOT_FOUND: the database has
 * no tables yet. All until store_reader_end() is done within the bounds, or fails: then the
 * connection is closed where PostgreSQL is still at it, so that it ends too. NULL bounds:
 * QUERY_TIMEOUT_MAX_MS, which no bounds may be beyond.
 */
bool store_reader_begin(struct store_reader *reader, const struct store_bounds *bounds,
			struct err *err) MUST_CHECK;
void store_reader_end(struct store_reader *reader);

/* The snapshot, for others to read in it too while it lasts; and joining it. */
bool store_reader_export(struct store_reader *reader, char *ret_snapshot, size_t size,
			 struct err *err) MUST_CHECK;
bool store_reader_join(struct store_reader *reader, const char *snapshot,
		       const struct store_bounds *bounds, struct err *err) MUST_CHECK;

/*
 * Readers that answer one query together: the first has begun, the others join its snapshot if
 * there is much to read, and connect for that where need be. They need their options and no more.
 */
struct store_team {
	struct store_reader *readers;
	size_t count;
};

/* sinks: one for each reader of the team; a sample goes to one of them. */
bool store_team_samples(const struct store_team *team, const struct store_query *query,
			const struct store_sink *sinks, struct err *err) MUST_CHECK;

bool store_reader_samples(struct store_reader *reader, const struct store_query *query,
			  const struct store_sink *sink, struct err *err) MUST_CHECK;

/*
 * The series that have a sample which one of the queries means, sorted by type and labels, each
 * once. Exact to the millisecond; the period is not told.
 */
bool store_reader_series(struct store_reader *reader, const struct store_query *queries,
			 size_t query_count, struct arena *arena, struct series **ret_series,
			 size_t *ret_count, struct err *err) MUST_CHECK;

/*
 * Names of labels, values of one, ids of profile types; sorted, each once. `queries` (may be none)
 * are alternatives that a series must match one of: the API's match[]; the window is theirs where
 * there are any. Labels of samples (pid, ...) are found too. What belongs to series is known to the
 * day (UTC) or better, what belongs to samples to the millisecond.
 */
bool store_reader_label_names(struct store_reader *reader, const struct store_query *queries,
			      size_t query_count, uint64_t start_ms, uint64_t end_ms,
			      struct arena *arena, str **ret_names, size_t *ret_count,
			      struct err *err) MUST_CHECK;
bool store_reader_label_values(struct store_reader *reader, str name,
			       const struct store_query *queries, size_t query_count,
			       uint64_t start_ms, uint64_t end_ms, struct arena *arena,
			       str **ret_values, size_t *ret_count, struct err *err) MUST_CHECK;
bool store_reader_profile_types(struct store_reader *reader, uint64_t start_ms, uint64_t end_ms,
				struct arena *arena, str **ret_types, size_t *ret_count,
				struct err *err) MUST_CHECK;
