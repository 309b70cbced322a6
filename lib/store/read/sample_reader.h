// SPDX-License-Identifier: Apache-2.0
/*
 * sample_reader - reads the samples that a query selects, over one or several connections.
 *
 * Samples are passed to a sink row by row, so the memory of a query does not grow with the amount
 * of data that it reads.
 */
#pragma once

#include "store/read/store_query.h"
#include "store/scan/reader.h"
#include "store/scan/store_sink.h"

/*
 * Reads the samples of the query, whose selector is not NULL. sinks: one for each reader; each
 * sample is passed to exactly one sink. Sets `gaps` of the leader and adds to its `stats`, also the
 * workers' counts. Called from the leader's thread; nothing is kept after the call.
 *
 * readers: at least one, at most READERS_MAX. readers[0] is the leader and must have begun its
 * snapshot. The other readers need only their options, and the rest zero: they connect and join the
 * snapshot if the amount of data is worth it ("store/scan/parallel_scan.h"), and stay connected
 * until the caller closes them with store_reader_close().
 *
 * ERR_CORRUPT: a stored row is malformed. ERR_LIMIT: QUERY_SERIES_BYTES_MAX is exceeded, or an
 * expression reached its match limit. ERR_IO: PostgreSQL failed. ERR_CANCELLED, ERR_TIMEOUT: the
 * bounds ended. Other errors are a sink's, unchanged. After a failure some samples may have been
 * passed; end the snapshot.
 */
bool store_reader_samples(struct store_reader *readers, size_t reader_count,
			  const struct store_query *query, const struct store_sink *sinks,
			  struct err *err) MUST_CHECK;
