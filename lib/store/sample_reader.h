// SPDX-License-Identifier: Apache-2.0
/*
 * sample_reader - finds samples in PostgreSQL.
 *
 * Samples are handed to a sink row by row, so a query's memory does not grow with what it reads.
 */
#pragma once

#include "profile/sample_set.h"
#include "store/reader.h"
#include "store/store_query.h"

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
