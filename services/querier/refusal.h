// SPDX-License-Identifier: Apache-2.0
/*
 * refusal - why a question has no answer: Prometheus' words, and the status that goes with each.
 */
#pragma once

#include "chassis/http.h"

enum refusal {
	REFUSED_BAD_DATA,
	REFUSED_EXECUTION,
	REFUSED_TIMEOUT,
	REFUSED_CANCELED,
	REFUSED_UNAVAILABLE,
	REFUSED_INTERNAL,
	REFUSED_NOT_FOUND,
	REFUSED_GONE,
	REFUSAL_COUNT,
};

/* Count it, and answer with its status and the sentence. */
void refusal_answer(enum refusal refusal, const char *sentence, struct arena *arena,
		    struct http_response *res);

/* The same with the status and the headers that `res` has: those of a door, 414 and the like. */
void refusal_tell(enum refusal refusal, const char *sentence, struct arena *arena,
		  struct http_response *res);

enum { REFUSAL_METRICS = 1 };
extern struct metric *const refusal_metrics[REFUSAL_METRICS];
