// SPDX-License-Identifier: Apache-2.0
#include "store/row_batch.h"

bool row_batch_has_room(const struct row_batch *batch, str partition)
{
	return batch->count == 0 || (str_eq(partition, batch->partition) &&
				     batch->count < READ_ROWS && batch->bytes < READ_PAYLOAD_BYTES);
}

void row_batch_add(struct row_batch *batch, str partition, str place, size_t payload_len)
{
	if (batch->count == 0)
		batch->partition = str_copy(&batch->arena, partition);
	batch->places[batch->count++] = str_copy(&batch->arena, place);
	batch->bytes += payload_len;
}

/* What is invalid here is stored so: nobody's question is. */
static bool take_row(const struct row_batch *batch, const struct row_reader *reader, str payload,
		     struct err *err)
{
	if (reader->take(reader->self, payload, err))
		return true;
	if (err->code == ERR_INVALID) {
		reader->stats->unreadable++;
		return err_wrap(err, "a row in " STR_FMT, STR_ARG(batch->partition));
	}
	return false;
}

static bool take_rows(const struct row_batch *batch, const struct row_reader *reader,
		      const struct postgres_rows *rows, struct err *err)
{
	if (rows->count != batch->count)
		return err_set(err, ERR_IO, "%zu of %zu rows are gone from " STR_FMT,
			       batch->count - rows->count, batch->count, STR_ARG(batch->partition));
	for (size_t i = 0; i < rows->count; i++) {
		str payload = postgres_get(rows, i, 0);

		reader->stats->chunks++;
		reader->stats->bytes += payload.len;
		if (!store_bounds_hold(reader->bounds, err) ||
		    !take_row(batch, reader, payload, err))
			return false;
	}
	return true;
}

bool row_batch_read(struct row_batch *batch, const struct row_reader *reader, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (batch->count == 0)
		return true;

	/* The name is the server's own, quoted where it must be. */
	str sql =
		str_format(&batch->arena, "SELECT payload FROM " STR_FMT " WHERE ctid = ANY ($1)%c",
			   STR_ARG(batch->partition), '\0');
	struct postgres_param places = postgres_tids(&batch->arena, batch->places, batch->count);

	if (!postgres_query(reader->pg, sql.ptr, &places, 1, &rows, err) ||
	    !take_rows(batch, reader, &rows, err))
		return false;
	arena_reset(&batch->arena);
	*batch = (struct row_batch){ .arena = batch->arena };
	return true;
}
