// SPDX-License-Identifier: Apache-2.0
/*
 * request - parses every parameter of the API from any bytes: a result is within its bounds, all
 * else fails with a sentence.
 *
 * A line is a parameter, NAME=VALUE.
 */
#include "querier/api/fleet_response_internal.h"
#include "querier/api/params_internal.h"
#include "querier/report/report.h"

#include <assert.h>

enum { PARAMS = 16 };
static const uint64_t now_ms = 1787479200000, timeout_ns = 30 * UINT64_C(1000000000);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void assert_rejected(const struct err *err)
{
	assert(err->code == ERR_INVALID && err->msg[0]);
}

static void check_times(const struct http_request *req)
{
	struct window window;
	uint64_t step_ms, ns;
	struct err err = { 0 };

	if (params_timeout(req, timeout_ns, &ns, &err))
		assert(ns > 0 && ns <= timeout_ns);
	else
		assert_rejected(&err);
	if (!params_window(req, "", now_ms, &window, &err)) {
		assert_rejected(&err);
		return;
	}
	assert(window.start_ms < window.end_ms && window.end_ms <= TIME_MAX_MS);
	if (params_step(req, &window, &step_ms, &err))
		assert(step_ms > 0 && (window.end_ms - window.start_ms - 1) / step_ms < STEPS_MAX);
	else
		assert_rejected(&err);
}

static void check_lists(const struct http_request *req)
{
	static const char *const lists[] = { "group_by", "sum_by" };
	struct group_by group_by;
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		if (!params_group_by(lists[i], http_query(req, lists[i]), &group_by, &err)) {
			assert_rejected(&err);
			continue;
		}
		assert(group_by.len <= GROUP_BY_MAX);
		for (size_t j = 0; j < group_by.len; j++)
			assert(group_by.names[j].len > 0);
	}
}

static void check_sizes(const struct http_request *req)
{
	const struct report *report = NULL;
	struct fleet_page page;
	size_t limit;
	struct err err = { 0 };

	if (!params_limit(req, &limit, &err))
		assert_rejected(&err);
	if (fleet_page_read(req, &page, &err))
		assert(page.limit > 0 && page.limit <= FLEET_HOSTS_MAX);
	else
		assert_rejected(&err);
	if (report_find(http_query(req, "report"), &report, &err))
		assert(report);
	else
		assert_rejected(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str text = { (const char *)data, size };
	struct http_param params[PARAMS];
	struct http_request req = { .params = params };

	while (text.len && req.param_count < PARAMS) {
		str value = str_cut(&text, '\n');
		str name = str_cut(&value, '=');

		params[req.param_count++] = (struct http_param){ name, value };
	}
	check_times(&req);
	check_lists(&req);
	check_sizes(&req);
	return 0;
}
