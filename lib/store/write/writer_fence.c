// SPDX-License-Identifier: Apache-2.0
#include "store/write/writer_fence_internal.h"

static void lose_part(struct flush *flush, size_t part)
{
	flush->writer->fences_lost += fence_groups_lose(&flush->groups, flush->parts, part);
}

/*
 * An existing row must have the revision that was read, and a row that was read must exist. A host
 * that RETURNING does not return has changed.
 */
static const char put_hosts[] =
	"INSERT INTO agent_status AS old (host, epoch, revision, highest, missing, gap, status, "
	"node, version, sampled, lost, truncated, last_seen, stored, duplicate_batches,"
	" rejected_batches, skipped, rejected_samples, too_far_ahead, conflict_batches,"
	" conflict_samples, missing_samples, missing_revision, batch_hashes) "
	"SELECT host, epoch, revision, highest, missing::int8multirange, gap, status, node, "
	"version, sampled, lost, truncated, last_seen, stored, duplicates, rejected, skipped,"
	" rejected_samples, too_far_ahead, conflict_batches, conflict_samples, missing_samples,"
	" revision, batch_hashes "
	"FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,"
	" $18, $19, $20, $21, $22, $23)"
	" AS new (host, epoch, revision, highest, missing, gap, status, node, version, sampled, "
	"lost, truncated, last_seen, stored, duplicates, rejected, skipped, rejected_samples,"
	" too_far_ahead, conflict_batches, conflict_samples, missing_samples, batch_hashes) "
	"WHERE revision = 1 OR EXISTS (SELECT FROM agent_status had"
	" WHERE had.host = new.host AND had.epoch = new.epoch) "
	"ON CONFLICT (host, epoch) DO UPDATE SET (revision, highest, missing, gap, status, node,"
	" version, sampled, lost, truncated, last_seen, stored, duplicate_batches, "
	"rejected_batches, skipped, rejected_samples, too_far_ahead, conflict_batches,"
	" conflict_samples, missing_samples, missing_revision, batch_hashes, received_at) = "
	"(excluded.revision, excluded.highest, excluded.missing, excluded.gap, excluded.status,"
	" excluded.node, excluded.version, excluded.sampled, excluded.lost, excluded.truncated,"
	" excluded.last_seen, excluded.stored, excluded.duplicate_batches,"
	" excluded.rejected_batches, excluded.skipped, excluded.rejected_samples,"
	" excluded.too_far_ahead, excluded.conflict_batches, excluded.conflict_samples,"
	" excluded.missing_samples, excluded.revision, excluded.batch_hashes, now()) "
	"WHERE old.revision = excluded.revision - 1 "
	"RETURNING host, epoch";

enum { HOST_NUMBERS = 16, HOST_TEXTS = 4 };

/* The columns of all hosts, as arrays. */
struct host_columns {
	int64_t *numbers[HOST_NUMBERS];
	str *texts[HOST_TEXTS], *statuses, *hashes;
	uint64_t *last_seen;
};

static void fill_host(struct host_columns *columns, size_t i, const struct store_host *host,
		      struct arena *arena)
{
	const uint64_t numbers[HOST_NUMBERS] = {
		host->epoch,
		host->revision + 1,
		host->seen.highest,
		host->seen.gap,
		host->sampled,
		host->lost,
		host->truncated,
		host->stored,
		host->duplicate_batches,
		host->rejected_batches,
		host->skipped,
		host->rejected_samples,
		host->too_far_ahead,
		host->conflict_batches,
		host->conflict_samples,
		host->transit.missing,
	};
	const str texts[HOST_TEXTS] = { host->host, received_set_missing_text(&host->seen, arena),
					host->node, host->version };

	for (size_t j = 0; j < HOST_NUMBERS; j++)
		columns->numbers[j][i] = (int64_t)numbers[j];
	for (size_t j = 0; j < HOST_TEXTS; j++)
		columns->texts[j][i] = texts[j];
	columns->statuses[i] = host->status;
	columns->hashes[i] = batch_hashes_bytes(&host->hashes, host->seen.highest, arena);
	columns->last_seen[i] = host->last_seen_ms;
}

static bool query_hosts(struct flush *flush, struct postgres_rows *ret_rows, struct err *err)
{
	struct arena *arena = &flush->arena;
	struct host_columns columns;
	size_t n = flush->groups.host_count;

	for (size_t i = 0; i < HOST_NUMBERS; i++)
		columns.numbers[i] = arena_array(arena, int64_t, n);
	for (size_t i = 0; i < HOST_TEXTS; i++)
		columns.texts[i] = arena_array(arena, str, n);
	columns.statuses = arena_array(arena, str, n);
	columns.hashes = arena_array(arena, str, n);
	columns.last_seen = arena_array(arena, uint64_t, n);
	for (size_t i = 0; i < n; i++)
		fill_host(&columns, i, flush->groups.hosts[i].host, arena);

	const struct postgres_param params[] = {
		postgres_texts(arena, columns.texts[0], n),
		postgres_i64s(arena, columns.numbers[0], n),
		postgres_i64s(arena, columns.numbers[1], n),
		postgres_i64s(arena, columns.numbers[2], n),
		postgres_texts(arena, columns.texts[1], n),
		postgres_i64s(arena, columns.numbers[3], n),
		postgres_byteas(arena, columns.statuses, n),
		postgres_texts(arena, columns.texts[2], n),
		postgres_texts(arena, columns.texts[3], n),
		postgres_i64s(arena, columns.numbers[4], n),
		postgres_i64s(arena, columns.numbers[5], n),
		postgres_i64s(arena, columns.numbers[6], n),
		postgres_times(arena, columns.last_seen, n),
		postgres_i64s(arena, columns.numbers[7], n),
		postgres_i64s(arena, columns.numbers[8], n),
		postgres_i64s(arena, columns.numbers[9], n),
		postgres_i64s(arena, columns.numbers[10], n),
		postgres_i64s(arena, columns.numbers[11], n),
		postgres_i64s(arena, columns.numbers[12], n),
		postgres_i64s(arena, columns.numbers[13], n),
		postgres_i64s(arena, columns.numbers[14], n),
		postgres_i64s(arena, columns.numbers[15], n),
		postgres_byteas(arena, columns.hashes, n),
	};

	return postgres_query(&flush->writer->pg, put_hosts, params, ARRAY_LEN(params), ret_rows,
			      err);
}

bool writer_fence_put_hosts(struct flush *flush, bool *ret_lost, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct fence_groups *groups = &flush->groups;
	bool *stored = arena_array(&flush->arena, bool, groups->host_count);

	*ret_lost = false;
	if (groups->host_count == 0)
		return true;
	if (!query_hosts(flush, &rows, err))
		return err_wrap(err, "store the state of hosts");
	for (size_t i = 0; i < rows.count; i++) {
		const struct fence_host *host = fence_groups_host(
			groups, postgres_get(&rows, i, 0), (uint64_t)postgres_get_i64(&rows, i, 1));

		if (host)
			stored[host - groups->hosts] = true;
	}
	for (size_t i = 0; i < groups->host_count; i++) {
		if (stored[i])
			continue;
		*ret_lost = true;
		lose_part(flush, groups->hosts[i].part);
	}
	return true;
}

static bool select_offsets(struct flush *flush, const int32_t *partitions, size_t count,
			   struct postgres_rows *ret_rows, struct err *err)
{
	const struct postgres_param params[] = {
		postgres_text(str_from(flush->writer->options.topic)),
		postgres_i32s(&flush->arena, partitions, count),
	};

	return postgres_query(&flush->writer->pg,
			      "SELECT partition, next_offset FROM consumer_offset WHERE topic = $1 "
			      "AND partition = ANY ($2) ORDER BY partition FOR UPDATE",
			      params, ARRAY_LEN(params), ret_rows, err);
}

/* The part of the Kafka partition; NULL: the flush has none, or it is lost. */
static struct store_flush_part *part_of(struct flush *flush, int64_t partition)
{
	for (size_t i = 0; i < flush->part_count; i++)
		if (flush->parts[i].from.partition == partition && !flush->parts[i].lost)
			return &flush->parts[i];
	return NULL;
}

/* Locks the rows in order and compares them. Missing rows are inserted by put_offsets. */
static bool compare_offsets(struct flush *flush, bool *ret_lost, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	int32_t *partitions = arena_array(&flush->arena, int32_t, flush->part_count);
	bool *found = arena_array(&flush->arena, bool, flush->part_count);
	size_t count = 0;

	for (size_t i = 0; i < flush->part_count; i++)
		if (!flush->parts[i].lost)
			partitions[count++] = flush->parts[i].from.partition;
	if (!select_offsets(flush, partitions, count, &rows, err))
		return false;
	for (size_t i = 0; i < rows.count; i++) {
		struct store_flush_part *part = part_of(flush, postgres_get_i64(&rows, i, 0));

		if (!part)
			continue;
		found[part - flush->parts] = true;
		if (part->from.next != postgres_get_i64(&rows, i, 1)) {
			*ret_lost = true;
			lose_part(flush, (size_t)(part - flush->parts));
		}
	}
	for (size_t i = 0; i < flush->part_count; i++) {
		struct store_flush_part *part = &flush->parts[i];

		if (!part->lost && !found[i] && part->from.next >= 0) {
			*ret_lost = true;
			lose_part(flush, i);
		}
	}
	return true;
}

static const char put_offsets[] =
	"INSERT INTO consumer_offset AS old (topic, partition, next_offset, last_key,"
	" last_timestamp_ms) "
	"SELECT $1, partition, next, key, time "
	"FROM unnest($2, $3, $4, $5, $6) AS new (partition, was, next, key, time) ORDER BY "
	"partition "
	"ON CONFLICT (topic, partition) DO UPDATE SET (next_offset, last_key, last_timestamp_ms)"
	" = (excluded.next_offset, excluded.last_key, excluded.last_timestamp_ms) "
	"WHERE old.next_offset = ($3::bigint[])[array_position($2::integer[], old.partition)] "
	"RETURNING partition";

bool writer_fence_put_offsets(struct flush *flush, bool *ret_lost, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct arena *arena = &flush->arena;
	size_t n = 0, max = flush->part_count;
	int32_t *partitions = arena_array(arena, int32_t, max);
	int64_t *was = arena_array(arena, int64_t, max), *next = arena_array(arena, int64_t, max);
	int64_t *times = arena_array(arena, int64_t, max);
	str *keys = arena_array(arena, str, max);

	*ret_lost = false;
	if (!compare_offsets(flush, ret_lost, err))
		return err_wrap(err, "lock offsets");
	if (*ret_lost)
		return true;
	for (size_t i = 0; i < max; i++) {
		const struct store_flush_part *part = &flush->parts[i];

		if (part->lost)
			continue;
		partitions[n] = part->from.partition;
		was[n] = part->from.next;
		next[n] = part->to.next;
		times[n] = part->to.last_timestamp_ms;
		keys[n++] = part->to.last_key;
	}

	const struct postgres_param params[] = {
		postgres_text(str_from(flush->writer->options.topic)),
		postgres_i32s(arena, partitions, n),
		postgres_i64s(arena, was, n),
		postgres_i64s(arena, next, n),
		postgres_byteas(arena, keys, n),
		postgres_i64s(arena, times, n),
	};

	if (!postgres_query(&flush->writer->pg, put_offsets, params, ARRAY_LEN(params), &rows, err))
		return err_wrap(err, "store offsets");

	/* Another ingester may have inserted a row after the comparison: first offsets only. */
	bool *stored = arena_array(arena, bool, max);

	for (size_t i = 0; i < rows.count; i++) {
		struct store_flush_part *part = part_of(flush, postgres_get_i64(&rows, i, 0));

		if (part)
			stored[part - flush->parts] = true;
	}
	for (size_t i = 0; i < max; i++) {
		if (flush->parts[i].lost || stored[i])
			continue;
		*ret_lost = true;
		lose_part(flush, i);
	}
	return true;
}
