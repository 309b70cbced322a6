// SPDX-License-Identifier: Apache-2.0
/*
 * selector - any text is parsed or rejected with a sentence, and a parsed selector can be used.
 */
#include "profile/selector.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct selector selector;
	struct err err = { 0 };
	bool matches;

	if (!selector_parse((str){ (const char *)data, size }, &arena, &selector, &err)) {
		assert(err.code != ERR_NONE && err.msg[0]);
		return 0;
	}
	assert(selector.type.len && selector.matcher_count <= MATCHERS_MAX);
	for (size_t i = 0; i < selector.matcher_count; i++) {
		const struct matcher *matcher = &selector.matchers[i];

		assert(matcher->name.len && str_is_utf8(matcher->value));
		if (matcher_matches(matcher, matcher->value, &matches, &err) &&
		    matcher->op == MATCH_EQ)
			assert(matches);
	}
	selector_done(&selector);
	return 0;
}
