/*
 * share_wish - any body: what is taken is within its bounds, what is not is refused in a sentence.
 */
#include "share_wish.h"

#include <assert.h>

static const uint64_t now_ms = 1787479200000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct share_wish wish;
	struct err err = { 0 };

	if (!share_wish_read((str){ (const char *)data, size }, now_ms, &arena, &wish, &err)) {
		assert(err.code == ERR_INVALID && err.msg[0]);
		return 0;
	}
	assert(wish.window.start_ms < wish.window.end_ms && wish.window.end_ms <= TIME_MAX_MS);
	assert(!wish.expires_ms || (wish.expires_ms > now_ms && wish.expires_ms <= TIME_MAX_MS));
	assert(wish.query.len <= size && str_is_utf8(wish.query) && wish.group_by.len <= size);
	return 0;
}
