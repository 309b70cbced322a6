// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/pace.h"

#include "base/clock.h"

#include <assert.h>
#include <sys/random.h>

enum { SILENCE_S = 2, LIVE_FACTOR = 2 };

#define ROOM_MAX (INT64_MAX / 2)

void pace_init(struct pace *pace, uint64_t rate, uint64_t now_ns)
{
	*pace = (struct pace){
		.option_rate = rate, .rate = rate, .delivered_ns = now_ns, .window = 1
	};
}

static void refill(struct pace *pace, uint64_t now_ns)
{
	int64_t burst = pace->rate < ROOM_MAX ? (int64_t)pace->rate : ROOM_MAX;

	token_bucket_refill(&pace->bytes, pace->rate, burst, now_ns);
}

enum pace_verdict pace_check(struct pace *pace, uint64_t live_rate, size_t in_flight,
			     uint64_t now_ns)
{
	if (pace->option_rate) {
		pace->rate = live_rate > pace->option_rate / LIVE_FACTOR ? live_rate * LIVE_FACTOR
									 : pace->option_rate;
		refill(pace, now_ns);
	}
	if (in_flight == 0)
		pace->delivered_ns = now_ns;
	else if (now_ns - pace->delivered_ns > SILENCE_S * NS_PER_SECOND)
		pace->window = 1;
	if (in_flight >= pace->window)
		return PACE_WINDOW_FULL;
	return pace->option_rate && pace->bytes.tokens <= 0 ? PACE_TOO_FAST : PACE_GO;
}

void pace_sent(struct pace *pace, uint64_t bytes)
{
	assert(bytes < ROOM_MAX);
	if (pace->option_rate)
		pace->bytes.tokens -= (int64_t)bytes;
}

void pace_delivered(struct pace *pace, uint64_t now_ns)
{
	pace->delivered_ns = now_ns;
	pace->window *= 2;
	if (pace->window > PACE_WINDOW_MAX)
		pace->window = PACE_WINDOW_MAX;
}

uint64_t pace_jitter(uint64_t ms)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		random = clock_monotonic_ns();
	return ms - random % (ms / 2 + 1);
}
