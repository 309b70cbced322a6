// SPDX-License-Identifier: Apache-2.0
#include "querier/report/report.h"

#include "querier/report/collapsed_internal.h"
#include "querier/report/flame_report.h"
#include "querier/report/table_report.h"
#include "server/metrics/metrics.h"
#include "wire/pprof.h"

#include <stdio.h>

static bool may_continue(void *merge)
{
	struct err err;

	return merge_may_continue(merge, &err);
}

static bool write_pprof(const struct report_input *input, struct arena *arena, str *ret_body,
			struct err *err)
{
	struct merge *merge = input->merge;
	size_t used = merge_memory_used(merge, arena);
	const struct pprof_options options = {
		.type = input->type,
		.start_ms = input->window.start_ms,
		.end_ms = input->window.end_ms,
		.period = merge_period(merge),
		.sample_labels = true,
		.memory_max = used < merge->memory_max ? merge->memory_max - used : 1,
		.may_continue = may_continue,
		.self = merge,
	};

	*ret_body = pprof_write(&merge->set, &options, arena);
	if (!merge_may_continue(merge, err))
		return false;
	return ret_body->ptr ? merge_within_memory(merge, arena, err) : merge_too_big(merge, err);
}

static bool write_collapsed(const struct report_input *input, struct arena *arena, str *ret_body,
			    struct err *err)
{
	return collapsed_write(input->merge, arena, ret_body, err);
}

const struct report reports[REPORT_COUNT] = {
	{ .name = "collapsed", /* the same order as report_names, for the metric */
	  .content_type = "text/plain; charset=utf-8",
	  .write = write_collapsed },
	{ .name = "pprof",
	  .content_type = "application/octet-stream",
	  .file_name = "profile.pb.gz",
	  .by_address = true,
	  .write = write_pprof },
	{ .name = "flamegraph",
	  .content_type = "application/json",
	  .has_nodes = true,
	  .write = flame_report_write },
	{ .name = "table",
	  .content_type = "application/json",
	  .has_nodes = true,
	  .write = table_report_write },
};

static const char *const report_names[REPORT_COUNT] = { "collapsed", "pprof", "flamegraph",
							"table" };
#define REPORT_METRICS(ROW)                                          \
	ROW(written, METRIC_COUNTER, "decima_querier_reports_total", \
	    "Reports written, by format.", METRIC_LABEL("report", report_names, REPORT_COUNT))

METRICS(report_metrics, REPORT_METRICS);

bool report_write(const struct report *report, const struct report_input *input,
		  struct arena *arena, str *ret_body, struct err *err)
{
	if (!report->write(input, arena, ret_body, err))
		return false;
	metric_add_at(&written, (size_t)(report - reports), 1);
	return true;
}

bool report_find(str name, const struct report **ret_report, struct err *err)
{
	char names[128];
	size_t len = 0;

	for (size_t i = 0; i < REPORT_COUNT; i++) {
		if (str_eq(str_from(reports[i].name), name)) {
			*ret_report = &reports[i];
			return true;
		}
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
					reports[i].name);
	}
	if (name.len == 0)
		return err_set(err, ERR_INVALID, "parameter report is missing: one of %s", names);
	return err_set(err, ERR_INVALID, "there is no report \"" STR_FMT "\": one of %s",
		       (int)(name.len < 64 ? name.len : 64), name.ptr, names);
}
