// SPDX-License-Identifier: Apache-2.0
/*
 * question - a request to the API on its way to an answer: its window, a reader, what it took.
 *
 * Every request goes through question_answer(): one place for the window, for refusals and for the
 * books. Each ask_*.c holds the answers to one kind. Any thread.
 */
#pragma once

#include "api.h"
#include "params.h"
#include "stats.h"
#include "store/sample_reader.h"

/* What is asked for, for the metrics. */
enum ask {
	ASK_LABELS,
	ASK_LABEL_VALUES,
	ASK_PROFILE_TYPES,
	ASK_SERIES,
	ASK_QUERY,
	ASK_QUERY_RANGE,
	ASK_DIFF,
	ASK_FLEET,
	ASK_SHARE,
	ASK_SHARED,
	ASK_LINK,
	ASK_COUNT,
};

struct question {
	struct api *api;
	const struct http_request *req;
	struct http_response *res;
	struct window window;
	struct store_bounds bounds; /* --query-timeout, and while the client waits */
	struct store_needs needs;   /* set before reading */
	bool has_read;              /* it has had a reader: what is invalid now is ours */
	bool is_unknown, is_gone;   /* why it is refused: there is no such thing, or no more */
	struct answer_stats stats;
	struct store_gap gaps[STORE_GAPS_MAX]; /* of what was read last */
	size_t gap_count;
	size_t held; /* most bytes of it, where that is more than the request's arena */
};

/* False: refused; the error's code says with which status. */
typedef bool question_give(struct question *question, struct err *err);

void question_answer(struct api *api, const struct http_request *req, struct http_response *res,
		     enum ask ask, question_give *give);

/* A reader with a snapshot of its own; NULL with a sentence. What it read goes into the stats. */
struct store_reader *question_take_reader(struct question *question, struct err *err) MUST_CHECK;
void question_give_reader(struct question *question, struct store_reader *reader);

/* The parameter `query`, or of another name. Give it to selector_done(), also where it was refused.
 */
bool question_selector(const struct question *question, const char *name,
		       struct selector *ret_selector, struct err *err) MUST_CHECK;

/*
 * Samples of the window that the selector means, into sinks: one for each of --query-connections,
 * each called by one thread, a sample to one of them.
 */
bool question_read(struct question *question, const struct selector *selector,
		   const struct store_sink *sinks, struct err *err) MUST_CHECK;

/* What is to be said of the gaps; returns how many sentences. */
size_t question_warnings(const struct question *question, str ret_warnings[STORE_GAPS_MAX]);

void question_header(struct question *question, str name, str value);

/* The match[] parameters: alternatives, each with the window. */
struct matches {
	struct selector *selectors;
	struct store_query *queries;
	size_t len;
};
bool matches_parse(const struct question *question, struct matches *matches,
		   struct err *err) MUST_CHECK;
void matches_done(struct matches *matches);

/* For routes. */
http_handler ask_labels, ask_label_values, ask_profile_types, ask_series;
http_handler ask_query, ask_query_range, ask_diff, ask_fleet;
http_handler ask_share, ask_shared, ask_link;

enum { QUESTION_METRICS = 9 };
extern struct metric *const question_metrics[QUESTION_METRICS];
