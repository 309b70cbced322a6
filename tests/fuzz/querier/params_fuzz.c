// SPDX-License-Identifier: Apache-2.0
/*
 * params - parses times and lists from any text: results are within bounds, no read is past the
 * end.
 */
#include "querier/api/params_internal.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str text = { (const char *)data, size };
	struct group_by group_by;
	struct err err = { 0 };
	uint64_t ms;

	if (params_time(text, &ms, &err))
		assert(ms <= TIME_MAX_MS);
	else
		assert(err.code == ERR_INVALID && err.msg[0]);
	if (params_group_by("group_by", text, &group_by, &err))
		assert(group_by.len <= GROUP_BY_MAX);

	const struct http_param step = { STR("step"), text };
	const struct http_request req = { .params = &step, .param_count = 1 };

	if (params_step(&req, &(struct window){ 0, 86400000 }, &ms, &err))
		assert(ms > 0 && 86400000 / ms <= STEPS_MAX);
	else
		assert(err.code == ERR_INVALID && err.msg[0]);
	return 0;
}
