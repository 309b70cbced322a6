// SPDX-License-Identifier: Apache-2.0
#include "profile/limits.h"
#include "profile/profile_type.h"
#include "store/maintenance/partition.h"
#include "store_check.h"

static int64_t count_of(struct postgres *pg, const char *sql)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
	struct err err;

	assert_good(postgres_query(pg, sql, NULL, 0, &rows, &err), err);
	return postgres_get_i64(&rows, 0, 0);
}

static bool is_there(struct postgres *pg, enum partition_table table, uint64_t unix_ms)
{
	AUTO_ARENA arena = { 0 };
	str sql = str_format(&arena,
			     "SELECT count(*) FROM pg_inherits "
			     "WHERE inhrelid = to_regclass('" STR_FMT "')%c",
			     STR_ARG(partition_name(table, unix_ms, &arena)), '\0');

	return count_of(pg, sql.ptr) == 1;
}

/* The partitions of the next day are created one hour before midnight. */
static void partitions_are_created_an_hour_ahead(void **state)
{
	uint64_t midnight = (now_ms() / DAY_MS + 2) * DAY_MS;
	struct store_writer writer;
	struct store_maintenance maintenance;
	struct err err;

	(void)state;
	open_writer(&writer);
	init_maintenance(&maintenance);
	for (uint64_t before = 61; before >= 59; before--) {
		uint64_t now = midnight - before * MINUTE_MS;

		maintenance.options.now_ms = now;
		assert_good(store_maintenance_run(&maintenance, &err), err);
		assert_true(is_there(&writer.pg, PARTITION_CHUNK_RAW, now + HOUR_MS));
		for (int table = 0; table < PARTITION_TABLE_COUNT; table++) {
			enum partition_table of = (enum partition_table)table;

			assert_true(is_there(&writer.pg, of, now));
			assert_int_equal(is_there(&writer.pg, of, midnight), before <= 60);
		}
	}
	store_writer_close(&writer);
}

/* Incompressible bytes that are valid text. */
static str noise(struct arena *arena, size_t len, uint64_t seed)
{
	char *bytes = arena_array(arena, char, len);

	for (size_t i = 0; i < len; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
		bytes[i] = (char)('!' + (seed >> 33) % 90);
	}
	return (str){ bytes, len };
}

static void the_most_and_longest_labels_are_stored_in_line(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct label *labels = arena_array(&arena, struct label, LABELS_MAX);
	uint32_t frame;
	struct store_writer writer;
	struct store_flush result;
	struct sample_set set, got;

	(void)state;
	for (uint64_t i = 0; i < LABELS_MAX; i++) {
		labels[i].name = noise(&arena, LABEL_NAME_MAX, i);
		labels[i].value = noise(&arena, LABEL_VALUE_MAX, i + LABELS_MAX);
	}
	sample_set_init(&set, &arena);
	frame = sample_set_frame(&set, &(struct frame){ .type = STR("native"), .address = 1 });
	sample_set_add(&set, (struct sample){
				     .series = sample_set_series(&set, STR(PROFILE_TYPE_CPU),
								 labels_of(labels, LABELS_MAX), 1),
				     .stack = sample_set_stack(&set, &frame, 1),
				     .labels = sample_set_labels(&set, (struct labels){ 0 }),
				     .value = 1,
				     .time_ms = now_ms() - MINUTE_MS,
			     });
	open_writer(&writer);

	struct store_flush_part part = part_from(0, -1, 1, &set);

	flush(&writer, &part, 1, &result);
	read_samples("{}", 0, UINT64_MAX, &got, &arena, NULL);
	assert_int_equal(got.samples.len, 1);
	assert_int_equal(count_of(&writer.pg, "SELECT sum(octet_length(value)) FROM label_pair "
					      "WHERE name NOT LIKE '\\_\\_%'"),
			 LABELS_MAX * LABEL_VALUE_MAX);
	assert_int_equal(count_of(&writer.pg, "SELECT count(*) FROM pg_inherits JOIN pg_class "
					      "ON oid = inhrelid WHERE reltoastrelid <> 0 "
					      "AND inhparent IN ('series'::regclass, "
					      "'label_pair'::regclass)"),
			 0);
	store_writer_close(&writer);
}

const struct CMUnitTest maintenance_tests[] = {
	TEST(partitions_are_created_an_hour_ahead),
	TEST(the_most_and_longest_labels_are_stored_in_line),
};
const size_t maintenance_test_count = ARRAY_LEN(maintenance_tests);
