// SPDX-License-Identifier: Apache-2.0
#include "store/share.h"

#include "store/limits.h"

#include <inttypes.h>
#include <sys/random.h>

/* The key of an advisory lock: one process at a time counts the shares and adds one. */
#define LOCK "SELECT pg_advisory_xact_lock(110386840822115)"

enum { ROOM_READ_ONLY, ROOM_COUNT, ROOM_BYTES };
static const char room[] = "SELECT current_setting('transaction_read_only') = 'on', count(*), "
			   "coalesce(sum(bytes), 0)::bigint FROM share";
static const char insert[] =
	"INSERT INTO share (id, created, expires, query, group_by, start_ms, end_ms, warnings,"
	" payload, reasons, bytes, b_query, b_start_ms, b_end_ms, b_payload, b_reasons)"
	" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";

#define MS_OF(column) "(extract(epoch FROM " column ") * 1000)::bigint"
#define SELECT(payload)                                                                            \
	"SELECT query, start_ms, end_ms, b_query, b_start_ms, b_end_ms, group_by, " MS_OF(         \
		"created") ", " MS_OF("expires") ", coalesce(expires <= now(), false),"            \
						 " warnings, payload IS NOT NULL, b_query IS NOT " \
						 "NULL" payload " FROM share WHERE id = $1"
enum { SIDE_QUERY, SIDE_START, SIDE_END, SIDE_COLUMNS }; /* of each side in turn */
enum { SIDE_PAYLOAD, SIDE_REASONS, SIDE_BYTES };
enum {
	ROW_SIDES,
	ROW_GROUP_BY = ROW_SIDES + SHARE_SIDES_MAX * SIDE_COLUMNS,
	ROW_CREATED,
	ROW_EXPIRES,
	ROW_HAS_EXPIRED,
	ROW_WARNINGS,
	ROW_IS_FROZEN,
	ROW_IS_DIFF,
	ROW_BYTES, /* of each side in turn */
};

bool share_id_make(struct arena *arena, str *ret_id, struct err *err)
{
	char bytes[SHARE_ID_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_errno(err, "draw a random id");
	*ret_id = str_hex(arena, (str){ bytes, sizeof(bytes) });
	return true;
}

bool share_id_is_valid(str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return false;
	}
	return text.len == SHARE_ID_LEN;
}

static struct postgres_param id_param(str id, struct arena *arena)
{
	char *bytes = arena_array(arena, char, SHARE_ID_BYTES);

	for (size_t i = 0; i < SHARE_ID_BYTES; i++) {
		uint64_t byte = 0;

		(void)!str_hex_to_u64((str){ id.ptr + 2 * i, 2 }, &byte);
		bytes[i] = (char)byte;
	}
	return postgres_bytea((str){ bytes, SHARE_ID_BYTES });
}

/* An empty text is stored as "", not NULL. */
static struct postgres_param text_param(str text)
{
	return postgres_text(text.ptr ? text : STR(""));
}

static size_t bytes_of(const struct share *share)
{
	size_t sum = share->group_by.len + share->warnings.len;

	for (size_t i = 0; i < share->side_count; i++) {
		const struct share_side *side = &share->sides[i];

		sum += side->query.len + side->payload.len + side->reasons.len;
	}
	return sum;
}

static bool is_true(str value)
{
	return value.len == 1 && value.ptr[0];
}

static bool has_room(struct postgres *pg, const struct share *share, uint64_t total_max,
		     struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!postgres_query(pg, room, NULL, 0, &rows, err))
		return false;
	if (is_true(postgres_get(&rows, 0, ROOM_READ_ONLY)))
		return err_set(
			err, ERR_IO,
			"shares cannot be stored: the database is a standby, or read-only for "
			"another reason");
	if (postgres_get_i64(&rows, 0, ROOM_COUNT) >= SHARES_MAX)
		return err_set(err, ERR_LIMIT, "there are %d shares already", SHARES_MAX);
	if ((uint64_t)postgres_get_i64(&rows, 0, ROOM_BYTES) + bytes_of(share) > total_max)
		return err_set(err, ERR_LIMIT,
			       "all shares together would exceed %" PRIu64
			       " bytes (--share-total-max-bytes)",
			       total_max);
	return true;
}

static bool add(struct postgres *pg, const struct share *share, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param null_time = { .type = POSTGRES_TIMESTAMPTZ };
	const struct postgres_param null_bytes = { .type = POSTGRES_BYTEA };
	const struct postgres_param null_text = { .type = POSTGRES_TEXT };
	const struct postgres_param null_number = { .type = POSTGRES_INT8 };
	const struct share_side *a = &share->sides[0], *b = &share->sides[1];
	bool is_diff = share->side_count == 2, is_frozen = share->is_frozen;
	const struct postgres_param params[] = {
		id_param(share->id, &arena),
		postgres_time(&arena, share->created_ms),
		share->expires_ms ? postgres_time(&arena, share->expires_ms) : null_time,
		text_param(a->query),
		text_param(share->group_by),
		postgres_i64(&arena, (int64_t)a->start_ms),
		postgres_i64(&arena, (int64_t)a->end_ms),
		text_param(share->warnings),
		is_frozen ? postgres_bytea(a->payload) : null_bytes,
		is_frozen ? postgres_bytea(a->reasons) : null_bytes,
		postgres_i64(&arena, (int64_t)bytes_of(share)),
		is_diff ? text_param(b->query) : null_text,
		is_diff ? postgres_i64(&arena, (int64_t)b->start_ms) : null_number,
		is_diff ? postgres_i64(&arena, (int64_t)b->end_ms) : null_number,
		is_diff && is_frozen ? postgres_bytea(b->payload) : null_bytes,
		is_diff && is_frozen ? postgres_bytea(b->reasons) : null_bytes,
	};

	return postgres_query(pg, insert, params, ARRAY_LEN(params), &rows, err);
}

bool share_store(const char *postgres, const struct share *share, uint64_t total_max,
		 const struct store_bounds *bounds, struct err *err)
{
	struct postgres pg = { 0 };
	const struct postgres_options options = {
		.conninfo = postgres,
		.application = "decima-querier",
		.settings = "-c statement_timeout=60s -c idle_in_transaction_session_timeout=60s",
		.deadline_ms = SHARE_STORE_MS,
		.cancel = bounds->cancel,
	};

	if (!postgres_open(&pg, &options, err))
		return false;
	postgres_set_bounds(&pg, bounds->deadline_ns, bounds->cancel);

	/* Closing the connection rolls back. */
	bool stored = postgres_exec(&pg, "BEGIN", err) && postgres_exec(&pg, LOCK, err) &&
		      has_room(&pg, share, total_max, err) && add(&pg, share, err) &&
		      postgres_exec(&pg, "COMMIT", err);

	postgres_close(&pg);
	return stored || err_wrap(err, "store the share");
}

static void read_side(const struct postgres_rows *rows, size_t number, bool with_payload,
		      struct arena *arena, struct share_side *side)
{
	size_t column = ROW_SIDES + number * SIDE_COLUMNS, bytes = ROW_BYTES + number * SIDE_BYTES;

	side->query = str_copy(arena, postgres_get(rows, 0, column + SIDE_QUERY));
	side->start_ms = (uint64_t)postgres_get_i64(rows, 0, column + SIDE_START);
	side->end_ms = (uint64_t)postgres_get_i64(rows, 0, column + SIDE_END);
	if (with_payload) {
		side->payload = str_copy(arena, postgres_get(rows, 0, bytes + SIDE_PAYLOAD));
		side->reasons = str_copy(arena, postgres_get(rows, 0, bytes + SIDE_REASONS));
	}
}

static void read_row(const struct postgres_rows *rows, bool with_payload, struct arena *arena,
		     struct share *share)
{
	share->group_by = str_copy(arena, postgres_get(rows, 0, ROW_GROUP_BY));
	share->created_ms = (uint64_t)postgres_get_i64(rows, 0, ROW_CREATED);
	share->expires_ms = (uint64_t)postgres_get_i64(rows, 0, ROW_EXPIRES);
	share->warnings = str_copy(arena, postgres_get(rows, 0, ROW_WARNINGS));
	share->is_frozen = is_true(postgres_get(rows, 0, ROW_IS_FROZEN));
	share->side_count = is_true(postgres_get(rows, 0, ROW_IS_DIFF)) ? 2 : 1;
	for (size_t i = 0; i < share->side_count; i++)
		read_side(rows, i, share->is_frozen && with_payload, arena, &share->sides[i]);
}

bool store_reader_share(struct store_reader *reader, str id, bool with_payload, struct arena *arena,
			struct share *ret_share, enum share_state *ret_state, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	const struct postgres_param param = id_param(id, arena);
	const char *sql =
		with_payload ? SELECT(", payload, reasons, b_payload, b_reasons") : SELECT("");

	if (!postgres_query(&reader->pg, sql, &param, 1, &rows, err))
		return err_wrap(err, "read the share");
	*ret_state = SHARE_UNKNOWN;
	if (rows.count == 0)
		return true;
	*ret_state = SHARE_EXPIRED;
	if (is_true(postgres_get(&rows, 0, ROW_HAS_EXPIRED)))
		return true;
	*ret_state = SHARE_FOUND;
	*ret_share = (struct share){ .id = str_copy(arena, id) };
	read_row(&rows, with_payload, arena, ret_share);
	return true;
}
