// SPDX-License-Identifier: Apache-2.0
/*
 * received_set - the missing numbers of a spool, as stored in a column: any text is rejected or is
 * formatted with the same meaning, and adding numbers keeps the ranges in order.
 */
#include "base/reader.h"
#include "store/write/received_set.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct received_set *seen)
{
	assert(seen->missing_count <= RECEIVED_RANGES_MAX);
	for (size_t i = 0; i < seen->missing_count; i++) {
		assert(seen->missing[i].first > 0);
		assert(seen->missing[i].first <= seen->missing[i].last);
		assert(i == 0 || seen->missing[i - 1].last + 1 < seen->missing[i].first);
	}
}

/* The numbers follow the text's NUL. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	str rest = { (const char *)data, size }, text = str_cut(&rest, '\0');
	struct received_set seen = { 0 }, again = { 0 };
	struct err err = { 0 };

	if (!received_set_missing_parse(text, &arena, &seen, &err)) {
		assert(err.code == ERR_INVALID && err.msg[0]);
		return 0;
	}
	check(&seen);

	str written = received_set_missing_text(&seen, &arena);

	assert(received_set_missing_parse(written, &arena, &again, &err));
	assert(str_eq(received_set_missing_text(&again, &arena), written));
	if (seen.missing_count)
		seen.highest = seen.missing[seen.missing_count - 1].last + 1;
	for (struct reader r = reader_of(rest); reader_left(&r);) {
		uint64_t sequence = reader_varint(&r);

		if (r.failed || sequence == 0 || sequence >= INT64_MAX)
			continue;

		bool had = received_set_has(&seen, sequence);

		assert((received_set_add(&seen, sequence, &arena) == RECEIVED_DUPLICATE) == had);
		check(&seen);
	}
	return 0;
}
