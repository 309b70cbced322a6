/*
 * reader - finds samples and labels in PostgreSQL. It never writes.
 *
 * Samples are handed to a sink row by row, so a query's memory does not grow with what it reads.
 * All that one reader reads between store_reader_begin() and store_reader_end() is one snapshot.
 * One thread per reader.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"
#include "profile/selector.h"

struct store_reader {
	struct pg_conn *connection; /* private */
	const char *postgres;
};

/* Which samples. The window is [start_ms, end_ms). */
struct store_query {
	const struct selector *selector;
	uint64_t start_ms, end_ms;
};

/* What it took. */
struct store_stats {
	uint64_t series, rows, bytes, samples_read, samples_matched;
};

struct store_sink {
	/* The matching samples of one stored row. The set lives until this returns. */
	bool (*take)(void *self, const struct sample_set *set, struct err *err);
	void *self;
};

/* Connect (libpq conninfo or URI). */
bool store_reader_open(struct store_reader *reader, const char *postgres,
		       struct err *err) MUST_CHECK;
void store_reader_close(struct store_reader *reader);

bool store_reader_begin(struct store_reader *reader, struct err *err) MUST_CHECK;
void store_reader_end(struct store_reader *reader);

bool store_reader_samples(struct store_reader *reader, const struct store_query *query,
			  const struct store_sink *sink, struct store_stats *stats,
			  struct err *err) MUST_CHECK;

/*
 * Names of labels, values of one, ids of profile types; sorted, each once. `queries` (may be none)
 * are alternatives that a series must match one of: the API's match[]. Labels of samples (pid, ...)
 * are found too.
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
