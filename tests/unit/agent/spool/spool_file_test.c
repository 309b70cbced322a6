// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/spool_file_internal.h"
#include "base/hash.h"
#include "support/test.h"

static const struct spool_batch batch = { .epoch = 7,
					  .seq = 3,
					  .samples = 190,
					  .time_unix_ns = 11,
					  .key = { "node/id", 7 },
					  .status = { "st", 2 },
					  .value = { "a\0b", 3 } };

static void reads_back_what_it_wrote(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct spool_batch got;
	struct err err;

	(void)state;
	assert_true(spool_batch_read(spool_batch_write(&batch, &arena), &got, &err));
	assert_true(got.epoch == 7 && got.seq == 3 && got.samples == 190 && got.time_unix_ns == 11);
	assert_true(str_eq(got.key, batch.key) && str_eq(got.status, batch.status));
	assert_true(str_eq(got.value, batch.value));
}

static void detects_every_truncation_and_every_changed_byte(void **state)
{
	AUTO_ARENA arena = { 0 };
	str file = spool_batch_write(&batch, &arena);
	struct spool_batch got;
	struct err err;

	(void)state;
	for (size_t len = 0; len < file.len; len++)
		assert_false(spool_batch_read((str){ file.ptr, len }, &got, &err));
	for (size_t i = 0; i < file.len; i++) {
		char *copy = arena_array(&arena, char, file.len);

		memcpy(copy, file.ptr, file.len);
		copy[i] ^= 4;
		assert_false(spool_batch_read((str){ copy, file.len }, &got, &err));
	}
}

static void the_header_alone_has_samples_and_size(void **state)
{
	AUTO_ARENA arena = { 0 };
	str file = spool_batch_write(&batch, &arena);
	struct spool_batch got;
	uint64_t size;
	struct err err;

	(void)state;
	assert_true(spool_header_read((str){ file.ptr, SPOOL_HEADER_SIZE }, &got, &size, &err));
	assert_true(size == file.len && got.samples == 190 && got.seq == 3);
}

static void meta_is_read_back_and_a_truncated_one_is_rejected(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct spool_meta meta = { .epoch = 1,
				   .last_seq = 2,
				   .counts = { 1, 2, 3, 4, 5, 6 },
				   .dropped = { 1, 5, 6 },
				   .host_id = STR("h"),
				   .status = STR("s") },
			  got;
	str file = spool_meta_write(&meta, &arena);
	struct err err;

	(void)state;
	assert_true(spool_meta_read(file, &got, &err));
	assert_true(got.last_seq == 2 && got.counts[5] == 6 && got.dropped.last == 6);
	assert_true(str_eq(got.host_id, meta.host_id) && str_eq(got.status, meta.status));
	for (size_t len = 0; len < file.len; len++)
		assert_false(spool_meta_read((str){ file.ptr, len }, &got, &err));
}

/* The bytes with one byte replaced, and a matching checksum. */
static str forged(str file, size_t at, char byte, struct arena *arena)
{
	char *copy = arena_array(arena, char, file.len);
	uint64_t sum;

	memcpy(copy, file.ptr, file.len);
	copy[at] = byte;
	sum = hash_64((str){ copy, file.len - sizeof(sum) });
	memcpy(copy + file.len - sizeof(sum), &sum, sizeof(sum));
	return (str){ copy, file.len };
}

/* Before places were recorded, the status was the last field. */
static void meta_without_a_place_is_read(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct spool_meta meta = { .epoch = 7, .host_id = STR("h"), .status = STR("s") }, got;
	str file = spool_meta_write(&meta, &arena);
	struct err err;

	(void)state;
	file.len -= 1; /* the length of the place, which is empty */
	file = forged(file, 0, file.ptr[0], &arena);
	assert_true(spool_meta_read(file, &got, &err));
	assert_true(got.epoch == 7 && str_eq(got.status, STR("s")) && got.place.len == 0);
}

static void a_malformed_header_is_rejected_though_its_checksum_matches(void **state)
{
	static const struct {
		size_t at;
		char byte;
		const char *message;
	} rows[] = {
		{ 0, 'x', "magic number" },
		{ 4, 99, "version 99" },
		{ 16, 0, "sequence number 0" },
		{ 43, 99, "longer than a batch" },
	};
	AUTO_ARENA arena = { 0 };
	str head = { spool_batch_write(&batch, &arena).ptr, SPOOL_HEADER_SIZE };
	struct spool_batch got;
	struct err err;
	uint64_t size;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_false(spool_header_read(forged(head, rows[i].at, rows[i].byte, &arena), &got,
					       &size, &err));
		assert_int_equal(err.code, ERR_INVALID);
		if (!strstr(err.msg, rows[i].message))
			fail_msg("%zu: %s", rows[i].at, err.msg);
	}
}

static void meta_of_another_kind_or_length_is_rejected(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct spool_meta meta = { .epoch = 1, .host_id = STR("h") }, got;
	str file = spool_meta_write(&meta, &arena);
	struct err err;

	(void)state;
	assert_false(spool_meta_read(forged(file, 0, 'x', &arena), &got, &err));
	/* the length of the last text is before the checksum: it claims more than there is */
	assert_false(spool_meta_read(forged(file, file.len - 9, 1, &arena), &got, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

RUN_TESTS(TEST(reads_back_what_it_wrote), TEST(detects_every_truncation_and_every_changed_byte),
	  TEST(the_header_alone_has_samples_and_size),
	  TEST(meta_is_read_back_and_a_truncated_one_is_rejected),
	  TEST(meta_without_a_place_is_read),
	  TEST(a_malformed_header_is_rejected_though_its_checksum_matches),
	  TEST(meta_of_another_kind_or_length_is_rejected))
