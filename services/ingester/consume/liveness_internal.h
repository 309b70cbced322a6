// SPDX-License-Identifier: Apache-2.0
/*
 * liveness - whether the consumer thread still turns, and whether it stores what Kafka has.
 *
 * The consumer thread says when a turn of its loop begins and how long it may take, and when it has
 * made progress. HTTP threads read both. Zero is a valid start: no bound. Times are those of
 * clock_monotonic_ns(). Any thread.
 */
#pragma once

#include "base/err.h"

struct liveness {
	/* private */
	_Atomic uint64_t turn_began_ns, turn_ends_ns; /* turn_ends_ns 0: no bound */
	_Atomic uint64_t progress_ns;
};

/* A turn begins, which must end within limit_ms; 0: no bound. */
void liveness_turn(struct liveness *liveness, uint64_t now_ns, uint64_t limit_ms);

/* Messages were stored, or there are none left. */
void liveness_progress(struct liveness *liveness, uint64_t now_ns);

/* True if there was no progress for limit_ms. */
bool liveness_is_stalled(const struct liveness *liveness, uint64_t now_ns, uint64_t limit_ms);

/* False, with a sentence (ERR_TIMEOUT): the turn has not ended in time. */
bool liveness_check(const struct liveness *liveness, uint64_t now_ns, struct err *why);
