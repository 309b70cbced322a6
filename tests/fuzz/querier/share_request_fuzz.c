// SPDX-License-Identifier: Apache-2.0
/*
 * share_request - parses any body: a result is within its bounds, all else fails with a sentence.
 */
#include "querier/api/share_request_internal.h"

#include <assert.h>

static const uint64_t now_ms = 1787479200000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct share_request request;
	struct err err = { 0 };

	if (!share_request_read((str){ (const char *)data, size }, now_ms, &arena, &request,
				&err)) {
		assert(err.code == ERR_INVALID && err.msg[0]);
		return 0;
	}
	assert(!request.expires_ms ||
	       (request.expires_ms > now_ms && request.expires_ms <= TIME_MAX_MS));
	assert(request.side_count == 1 || request.side_count == 2);
	for (size_t i = 0; i < request.side_count; i++) {
		const struct share_request_side *side = &request.sides[i];

		assert(side->window.start_ms < side->window.end_ms);
		assert(side->window.end_ms <= TIME_MAX_MS);
		assert(side->query.len <= size && str_is_utf8(side->query));
	}
	assert(request.group_by.len <= size);
	return 0;
}
