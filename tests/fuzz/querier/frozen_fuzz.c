// SPDX-License-Identifier: Apache-2.0
/*
 * frozen - decodes any bytes: they fail, or the result can be encoded and decoded again.
 *
 * The first byte is the number of bytes at the end that are reasons. Rows have a fuzzer of their
 * own, chunk: their checksums reject nearly all input outside of the corpus, so this fuzzer tests
 * the code around the rows.
 */
#include "profile/profile_type.h"
#include "querier/report/frozen.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct group_by ungrouped;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	const char *bytes = (const char *)data + 1;
	struct merge merge, again;
	struct frozen frozen;
	struct err err = { 0 };

	if (size == 0)
		return 0;

	size_t reasons = data[0] < size ? data[0] : size - 1;
	size_t payload = size - 1 - reasons;

	frozen.payload = (str){ bytes, payload };
	frozen.reasons = (str){ bytes + payload, reasons };
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	if (!frozen_read(&frozen, &merge, &err)) {
		assert((err.code == ERR_INVALID || err.code == ERR_LIMIT) && err.msg[0]);
		return 0;
	}
	assert(frozen_make(&merge, 1 << 26, &arena, &frozen, &err));
	merge_init(&again, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	assert(frozen_read(&frozen, &again, &err));
	assert(again.set.samples.len == merge.set.samples.len);
	return 0;
}
