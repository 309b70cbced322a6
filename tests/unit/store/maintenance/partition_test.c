// SPDX-License-Identifier: Apache-2.0
#include "store/maintenance/partition.h"
#include "support/test.h"

#define NOON UINT64_C(1795262400000) /* 2026-11-21 12:00 UTC */

static void names_the_day_or_the_hour_in_utc(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_true(str_eq(partition_name(PARTITION_SERIES, NOON, &arena), STR("series_20261121")));
	assert_true(str_eq(partition_name(PARTITION_CHUNK_RAW, NOON + 3599999, &arena),
			   STR("chunk_raw_2026112112")));
	assert_true(str_eq(partition_name(PARTITION_LABEL_PAIR, 0, &arena),
			   STR("label_pair_19700101")));
}

static void reads_its_own_names(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (uint64_t time = 0; time < NOON * 2; time += UINT64_C(100000007000)) {
		for (int table = 0; table < PARTITION_TABLE_COUNT; table++) {
			uint64_t span = partition_tables[table].span_ms, start = 1;
			str name = partition_name((enum partition_table)table, time, &arena);

			assert_true(
				partition_name_parse((enum partition_table)table, name, &start));
			assert_true(start == time - time % span);
		}
	}
}

static void leaves_other_tables_alone(void **state)
{
	static const char *const names[] = {
		"",
		"series",
		"series_",
		"series_2026112",
		"series_202611211",
		"series_20261321",
		"series_20260230",
		"series_2026112x",
		"series_20261121_day_idx",
		"series_00000000",
	};
	uint64_t start;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_false(partition_name_parse(PARTITION_SERIES, str_from(names[i]), &start));
	assert_false(
		partition_name_parse(PARTITION_CHUNK_RAW, STR("chunk_raw_2026112124"), &start));
}

RUN_TESTS(TEST(names_the_day_or_the_hour_in_utc), TEST(reads_its_own_names),
	  TEST(leaves_other_tables_alone))
