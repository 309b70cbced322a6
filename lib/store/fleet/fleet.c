// SPDX-License-Identifier: Apache-2.0
#include "store/fleet/fleet.h"

#include "base/clock.h"
#include "store/active_agents.h"
#include "store/limits.h"
#include "store/write/received_set.h"
#include "store/write/transit.h"

/* Binary values of the columns of the cursor. */
enum {
	ROW_HOST,
	ROW_STATUS,
	ROW_LAST_SEEN,
	ROW_STORED,
	ROW_SKIPPED,
	ROW_TOO_FAR_AHEAD,
	ROW_REJECTED,
	ROW_DUPLICATE,
	ROW_CONFLICT,
	ROW_CONFLICT_SAMPLES,
	ROW_GAP,
	ROW_MISSING,
	ROW_MISSING_SAMPLES,
	ROW_IS_ESTIMATED,
	ROW_IS_ACTIVE,
};

/* Without a status the host's clock is unknown, and the time of arrival is used. */
static const char declare[] =
	"DECLARE fleet NO SCROLL CURSOR FOR "
	"SELECT host, status,"
	" (extract(epoch FROM CASE WHEN status = '' THEN received_at ELSE last_seen END) * "
	"1000)::bigint,"
	" stored, skipped, too_far_ahead, rejected_samples, duplicate_batches,"
	" conflict_batches, conflict_samples, gap, missing::text,"
	" missing_samples, (missing_revision <> revision)::int::bigint,"
	" (" AGENT_IS_ACTIVE ")::int::bigint "
	"FROM agent_status WHERE host COLLATE \"C\" > $1 " AGENT_WINDOW
	" ORDER BY host COLLATE \"C\", epoch";

/* The host whose spools are being added up. */
struct fleet_scan {
	const struct fleet_sink *sink;
	struct arena arena; /* of the host */
	struct fleet_host host;
	bool has_host, more;
};

static bool emit_host(struct fleet_scan *scan, struct err *err)
{
	bool had_host = scan->has_host;

	scan->has_host = false;
	if (!had_host || !scan->more)
		return true;
	balance_close(&scan->host.balance, &scan->arena);
	return scan->sink->on_host(scan->sink->self, &scan->host, &scan->more, err);
}

static uint64_t get_u64(const struct postgres_rows *rows, size_t row, size_t column)
{
	return (uint64_t)postgres_get_i64(rows, row, column);
}

/*
 * Batches below the oldest in the agent's spool were acknowledged by Kafka before the batch with
 * this status was sent, and preceded it in the Kafka partition. If such a batch is missing, it is
 * gone from Kafka, unless the host has moved to another partition meanwhile: then the batch may
 * still arrive and is no longer missing.
 */
static bool add_missing(struct balance_spool *spool, str missing, struct arena *scratch,
			struct err *err)
{
	struct received_set seen = { 0 };

	if (!received_set_missing_parse(missing, scratch, &seen, err)) {
		err->code = ERR_CORRUPT;
		return false;
	}

	uint64_t gone = spool->has_status
				? received_set_missing_below(&seen, spool->status.spool_oldest)
				: 0;

	spool->gap += gone;
	spool->missing = received_set_missing(&seen) - gone;
	return true;
}

static uint64_t transit_of(const struct postgres_rows *rows, size_t row,
			   const struct balance_spool *spool)
{
	uint64_t accounted =
		spool->stored + spool->skipped + spool->rejected + spool->conflict_samples;

	if (!postgres_get_i64(rows, row, ROW_IS_ESTIMATED))
		return get_u64(rows, row, ROW_MISSING_SAMPLES);
	if (!spool->has_status)
		return 0;
	for (size_t i = 0; i < spool->status.lost_count; i++)
		accounted += spool->status.lost[i].samples;
	return transit_estimate(spool->status.sampled, accounted,
				status_spool_lost(&spool->status));
}

/* Spools are sorted by age: the values of the newest one win. */
static bool add_spool(struct fleet_scan *scan, const struct postgres_rows *rows, size_t row,
		      struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	str status = postgres_get(rows, row, ROW_STATUS);
	struct fleet_host *host = &scan->host;
	struct balance_spool spool = {
		.stored = get_u64(rows, row, ROW_STORED),
		.skipped = get_u64(rows, row, ROW_SKIPPED),
		.too_far_ahead = get_u64(rows, row, ROW_TOO_FAR_AHEAD),
		.rejected = get_u64(rows, row, ROW_REJECTED),
		.duplicate = get_u64(rows, row, ROW_DUPLICATE),
		.conflict = get_u64(rows, row, ROW_CONFLICT),
		.conflict_samples = get_u64(rows, row, ROW_CONFLICT_SAMPLES),
		.gap = get_u64(rows, row, ROW_GAP),
	};
	uint64_t last_seen_ms = get_u64(rows, row, ROW_LAST_SEEN);
	struct err unread;

	spool.has_status = status.len && status_read(status, &spool.status, &scratch, &unread);
	spool.transit = transit_of(rows, row, &spool);
	if (!add_missing(&spool, postgres_get(rows, row, ROW_MISSING), &scratch, err))
		return false;
	balance_add(&host->balance, &spool, &scan->arena);
	host->agents += get_u64(rows, row, ROW_IS_ACTIVE);
	if (last_seen_ms > host->last_seen_ms)
		host->last_seen_ms = last_seen_ms;
	if (spool.has_status) {
		host->node = str_copy(&scan->arena, spool.status.node);
		host->version = str_copy(&scan->arena, spool.status.version);
	}
	return true;
}

static bool read_row(struct fleet_scan *scan, const struct postgres_rows *rows, size_t row,
		     struct err *err)
{
	str host = postgres_get(rows, row, ROW_HOST);

	if (!scan->has_host || !str_eq(host, scan->host.host)) {
		if (!emit_host(scan, err))
			return false;
		arena_reset(&scan->arena);
		scan->host = (struct fleet_host){ .host = str_copy(&scan->arena, host) };
		scan->has_host = true;
	}
	return add_spool(scan, rows, row, err);
}

static bool run(struct store_reader *reader, struct fleet_scan *scan, struct err *err)
{
	_Static_assert(READ_ROWS == 256, "as in the FETCH below");
	size_t count = 0;

	do {
		CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

		if (!store_bounds_check(&reader->bounds, err))
			return false;
		if (!postgres_query(&reader->pg, "FETCH 256 FROM fleet", NULL, 0, &rows, err))
			return false;
		count = rows.count;
		for (size_t i = 0; i < count && scan->more; i++)
			if (!read_row(scan, &rows, i, err))
				return false;
	} while (count && scan->more);
	return emit_host(scan, err) && postgres_exec(&reader->pg, "CLOSE fleet", err);
}

bool store_reader_fleet(struct store_reader *reader, str after, const struct fleet_sink *sink,
			struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct fleet_scan scan = { .sink = sink, .more = true };
	const struct postgres_param from = postgres_text(after.ptr ? after : STR(""));

	if (!postgres_query(&reader->pg, declare, &from, 1, &rows, err))
		return err_wrap(err, "read the fleet");

	bool good = run(reader, &scan, err);

	arena_free(&scan.arena);
	return good;
}
