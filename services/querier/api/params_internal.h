// SPDX-License-Identifier: Apache-2.0
/*
 * params - parses the parameters of a request: times, windows, steps, lists of labels.
 *
 * Pure: any thread. Texts borrow from the request. A function that returns bool fails only with
 * ERR_INVALID, whose message names the parameter; outputs are unchanged then.
 */
#pragma once

#include "querier/merge/grouping.h"
#include "querier/merge/window.h"
#include "querier/querier_limits.h"
#include "server/http/http.h"

/*
 * Parses Unix seconds with or without a fraction, or RFC 3339 ("2026-08-22T10:00:00.5+02:00"), to
 * Unix milliseconds. Finer fractions are rounded up, so that [start, end) holds exactly the samples
 * of the requested time.
 */
bool params_time(str text, uint64_t *ret_ms, struct err *err) MUST_CHECK;

/* Parses `start` and `end`; `prefix` stands before both names. now_ms: Unix ms, the default of
 * `end`. Default of `start`: DEFAULT_WINDOW_MS before the end. Also ERR_INVALID if start >= end. */
bool params_window(const struct http_request *req, const char *prefix, uint64_t now_ms,
		   struct window *ret_window, struct err *err) MUST_CHECK;

/* Parses label names that are separated by commas: at most GROUP_BY_MAX, each once. `param` is the
 * parameter's name, for the error. */
bool params_group_by(const char *param, str text, struct group_by *ret_group_by,
		     struct err *err) MUST_CHECK;

/*
 * Parses `step`: seconds with or without a fraction, or a duration like 15s or 1h30m. Without it
 * the window is split into DEFAULT_STEPS steps of whole seconds, or of whole hours if a step is
 * longer than half an hour. Also ERR_INVALID if the step is 0, or if there are more than STEPS_MAX
 * steps in the window.
 */
bool params_step(const struct http_request *req, const struct window *window, uint64_t *ret_step_ms,
		 struct err *err) MUST_CHECK;

/*
 * The beginning of the first step, Unix milliseconds. It is the window's start, except for steps of
 * whole hours that are the default or come with align=1: then it is the start of the window's first
 * hour (UTC), or first day for steps of whole days, so that hourly and daily sums can be used.
 */
uint64_t params_steps_start(const struct http_request *req, const struct window *window,
			    uint64_t step_ms);

/* Parses `timeout`: seconds or a duration. *ret_ns is at most max_ns, which is the default. */
bool params_timeout(const struct http_request *req, uint64_t max_ns, uint64_t *ret_ns,
		    struct err *err) MUST_CHECK;

/* Parses `limit`, a number of series. 0, the default: no limit. */
bool params_limit(const struct http_request *req, size_t *ret_limit, struct err *err) MUST_CHECK;
