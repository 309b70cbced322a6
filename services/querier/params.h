// SPDX-License-Identifier: Apache-2.0
/*
 * params - what the parameters of a request say: times, windows, lists.
 */
#pragma once

#include "chassis/http.h"
#include "grouping.h"
#include "querier_limits.h"
#include "window.h"

/*
 * Unix seconds with or without a fraction, or RFC 3339 ("2026-08-22T10:00:00.5+02:00"), to
 * milliseconds. What is finer is rounded up, so that [start, end) holds just the samples it names.
 */
bool params_time(str text, uint64_t *ret_ms, struct err *err) MUST_CHECK;

/* start and end, with a prefix before their names; without start an hour before the end, without
 * end now. ERR_INVALID: start >= end.
 */
bool params_window(const struct http_request *req, const char *prefix, uint64_t now_ms,
		   struct window *ret_window, struct err *err) MUST_CHECK;

/* Names of labels, separated by commas; and how many. */
bool params_group_by(const char *param, str text, struct group_by *ret_group_by,
		     struct err *err) MUST_CHECK;

/*
 * step: seconds with or without a fraction, or a duration like 15s or 1h30m; to milliseconds.
 * Without it the window is cut into DEFAULT_STEPS, of whole seconds, or of whole hours where they
 * are longer than half of one. ERR_INVALID: none, or more than STEPS_MAX of them in the window.
 */
bool params_step(const struct http_request *req, const struct window *window, uint64_t *ret_step_ms,
		 struct err *err) MUST_CHECK;

/*
 * Where the first step begins: at the window's start, or, where steps are whole hours and were not
 * asked for or align=1 was, at the beginning of its hour, so that sums of hours can be used; where
 * they are whole days, of its day (UTC).
 */
uint64_t params_steps_start(const struct http_request *req, const struct window *window,
			    uint64_t step_ms);

/* timeout: seconds or a duration, where that is less than max_ns. */
bool params_timeout(const struct http_request *req, uint64_t max_ns, uint64_t *ret_ns,
		    struct err *err) MUST_CHECK;

/* limit: how many; without it, or 0, all. */
bool params_limit(const struct http_request *req, size_t *ret_limit, struct err *err) MUST_CHECK;
