// SPDX-License-Identifier: Apache-2.0
/*
 * store_check - helpers of the tests of the store: writing, and reading back.
 */
#pragma once

#include "store/maintenance/maintenance.h"
#include "store/read/label_reader.h"
#include "store/read/sample_reader.h"
#include "store/read/series_reader.h"
#include "store/write/writer.h"
#include "support/random_set.h"
#include "support/test.h"

#define MINUTE_MS UINT64_C(60000)
#define HOUR_MS   (60 * MINUTE_MS)
#define DAY_MS    (24 * HOUR_MS)

#define assert_good(expression, err)               \
	do {                                       \
		if (!(expression))                 \
			fail_msg("%s", (err).msg); \
	} while (0)

/* The database of this test. */
const char *postgres(void);
uint64_t now_ms(void);

void open_writer(struct store_writer *writer);

/* Connects the reader and begins a snapshot. */
void begin_reader(struct store_reader *reader);
void init_maintenance(struct store_maintenance *maintenance); /* samples are kept for a week */
struct store_flush_part part_from(int32_t partition, int64_t from, int64_t to,
				  const struct sample_set *set);
void flush(struct store_writer *writer, struct store_flush_part *parts, size_t count,
	   struct store_flush *ret_flush);

/* 4,000 samples of 40 series within 20 seconds. */
struct random_options options_at(uint64_t first_ms, uint64_t seed);

/* Reads the samples that match a selector. ret_stats may be NULL. */
void read_samples(const char *selector_text, uint64_t start_ms, uint64_t end_ms,
		  struct sample_set *got, struct arena *arena, struct store_stats *ret_stats);

/* A sample_filter that evaluates the selector by a plain loop; labels of the series win. */
struct plain {
	const struct selector *selector;
	uint64_t start_ms, end_ms;
};
bool plain_keep(void *self, const struct sample_set *from, struct sample *sample);

/* The tests, by file. */
extern const struct CMUnitTest label_tests[], read_tests[], write_tests[], maintenance_tests[],
	parallel_tests[];
extern const size_t label_test_count, read_test_count, write_test_count, maintenance_test_count,
	parallel_test_count;
