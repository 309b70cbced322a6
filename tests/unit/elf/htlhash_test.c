// SPDX-License-Identifier: Apache-2.0
/*
 * The expected values come from the shell, by the recipe of the semantic conventions:
 * (head -c 4096 F; tail -c 4096 F; printf '\0\0\0\0\0\0...LENGTH') | sha256sum | cut -c1-32
 */
#include "elf/htlhash.h"
#include "support/test.h"

#include <sys/mman.h>

static void agrees_with_the_specification(void **state)
{
	static const struct {
		size_t len; /* of a file of bytes 0, 1, ... 250, 0, 1, ... */
		const char *hex;
	} rows[] = {
		{ 3, "9800497a031ff2bc9a3b92b8cdb14457" },
		{ 5000, "8fcb735ccf036663f4dc178cf6653aac" },
		{ 100000, "4feba4f4dcc392647124e0ac3e1dfdd3" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct err err = { 0 };
		htlhash hash;
		char *bytes = arena_alloc(&arena, rows[i].len, 1, 1);
		AUTO_FD fd = memfd_create("htlhash", MFD_CLOEXEC);

		for (size_t at = 0; at < rows[i].len; at++)
			bytes[at] = (char)(at % 251);
		assert_true(htlhash_of_image((str){ bytes, rows[i].len }, &hash, &err));
		assert_memory_equal(hash.hex, rows[i].hex, HTLHASH_HEX_LEN);
		assert_int_equal(write(fd, bytes, rows[i].len), (ssize_t)rows[i].len);
		assert_true(htlhash_of_fd(fd, &hash, &err));
		assert_memory_equal(hash.hex, rows[i].hex, HTLHASH_HEX_LEN);
	}
}

static void rejects_a_pipe(void **state)
{
	struct err err = { 0 };
	htlhash hash;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_false(htlhash_of_fd(ends[0], &hash, &err));
	assert_int_equal(err.code, ERR_INVALID);
	close(ends[0]);
	close(ends[1]);
}

RUN_TESTS(TEST(agrees_with_the_specification), TEST(rejects_a_pipe))
