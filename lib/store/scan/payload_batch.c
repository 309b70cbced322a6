// SPDX-License-Identifier: Apache-2.0
#include "store/scan/payload_batch.h"

#include "store/chunk/chunk_decode.h"
#include "store/scan/sample_matchers_internal.h"

bool payload_batch_has_room(const struct payload_batch *batch, str partition)
{
	return batch->count == 0 || (str_eq(partition, batch->partition) &&
				     batch->count < READ_ROWS && batch->bytes < READ_PAYLOAD_BYTES);
}

void payload_batch_add(struct payload_batch *batch, str partition, str ctid,
		       const struct chunk_ranges *ranges)
{
	struct arena *arena = &batch->arena;
	str copy = str_copy(arena, ctid);

	if (batch->count == 0)
		batch->partition = str_copy(arena, partition);
	for (size_t i = 0; i < ranges->count; i++) {
		*vec_push(arena, &batch->range_ctids) = copy;
		*vec_push(arena, &batch->range_rows) = (int32_t)batch->count;
		*vec_push(arena, &batch->range_ats) = (int32_t)ranges->ranges[i].at + 1;
		*vec_push(arena, &batch->range_lens) = (int32_t)ranges->ranges[i].len;
	}
	batch->slices[batch->count] = ranges->slices;
	batch->ctids[batch->count++] = copy;
	batch->bytes += ranges->len;
	batch->has_slices = batch->has_slices || ranges->slices;
}

/* slices: number of slices in `bytes`; 0: all slices of the row. */
static bool read_row(const struct payload_reader *reader, str bytes, size_t slices, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	const struct store_sink *sink = reader->sink;
	struct store_stats *stats = &reader->reader->stats;
	struct scan_plan plan = *reader->plan;
	struct sample_set set;
	uint64_t samples = 0;
	const struct chunk_filter filter = {
		.series = scan_plan_series,
		.self = &plan,
		.start_ms = plan.window.start_ms,
		.end_ms = plan.window.end_ms,
		.without = plan.without,
		.slices = slices,
	};

	stats->chunks++;
	stats->bytes += bytes.len;
	sample_set_init(&set, &arena);
	if (!store_bounds_check(&reader->reader->bounds, err) ||
	    !chunk_decode(bytes, &filter, &set, &samples, err) ||
	    (sink->on_candidates && set.samples.len &&
	     !sink->on_candidates(sink->self, &set, err)) ||
	    !sample_matchers_apply(&plan, &reader->reader->bounds, &set, &arena, err))
		return false;
	stats->samples_read += samples;
	stats->samples_matched += set.samples.len;
	return set.samples.len == 0 || sink->on_samples(sink->self, &set, err);
}

/* ERR_INVALID of the decoder: the stored row is malformed, not the query. */
static bool row_failed(const struct payload_batch *batch, struct store_stats *stats,
		       struct err *err)
{
	if (err->code != ERR_INVALID)
		return false;
	err->code = ERR_CORRUPT;
	stats->unreadable++;
	return err_wrap(err, "a row in " STR_FMT, STR_ARG(batch->partition));
}

/* The server has quoted the name of the partition if necessary. */
static bool query_whole(struct payload_batch *batch, struct postgres *pg,
			struct postgres_rows *rows, struct err *err)
{
	str sql =
		str_format(&batch->arena, "SELECT payload FROM " STR_FMT " WHERE ctid = ANY ($1)%c",
			   STR_ARG(batch->partition), '\0');
	struct postgres_param ctids = postgres_tids(&batch->arena, batch->ctids, batch->count);

	return postgres_query(pg, sql.ptr, &ctids, 1, rows, err);
}

/*
 * Concatenates the ranges of each row, in the order of the batch. OFFSET 0 keeps the ctid a
 * parameter of the subquery: with a join, the planner might scan the whole table.
 */
static bool query_ranges(struct payload_batch *batch, struct postgres *pg,
			 struct postgres_rows *rows, struct err *err)
{
	struct arena *arena = &batch->arena;
	const struct postgres_param params[] = {
		postgres_tids(arena, batch->range_ctids.items, batch->range_ctids.len),
		postgres_i32s(arena, batch->range_rows.items, batch->range_rows.len),
		postgres_i32s(arena, batch->range_ats.items, batch->range_ats.len),
		postgres_i32s(arena, batch->range_lens.items, batch->range_lens.len),
	};
	str sql = str_format(
		arena,
		"SELECT string_agg(substring(payload FROM at FOR len), '' ORDER BY at) "
		"FROM unnest($1, $2, $3, $4) AS piece(place, n, at, len), "
		"LATERAL (SELECT payload FROM " STR_FMT " WHERE ctid = place OFFSET 0) AS stored "
		"GROUP BY n ORDER BY n%c",
		STR_ARG(batch->partition), '\0');

	return postgres_query(pg, sql.ptr, params, ARRAY_LEN(params), rows, err);
}

bool payload_batch_read(struct payload_batch *batch, const struct payload_reader *reader,
			struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (batch->count == 0)
		return true;
	if (!(batch->has_slices ? query_ranges : query_whole)(batch, &reader->reader->pg, &rows,
							      err))
		return false;
	if (rows.count != batch->count)
		return err_set(err, ERR_IO, "%zu of %zu rows have disappeared from " STR_FMT,
			       batch->count - rows.count, batch->count, STR_ARG(batch->partition));
	for (size_t i = 0; i < rows.count; i++)
		if (!read_row(reader, postgres_get(&rows, i, 0),
			      batch->has_slices ? batch->slices[i] : 0, err))
			return row_failed(batch, &reader->reader->stats, err);
	arena_reset(&batch->arena);
	*batch = (struct payload_batch){ .arena = batch->arena };
	return true;
}
