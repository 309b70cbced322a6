// SPDX-License-Identifier: Apache-2.0
#include "base/stop.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

bool stop_open(struct stop *stop, struct err *err)
{
	stop->asked_ns = 0;
	stop->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return stop->fd >= 0 || err_errno(err, "create the cancellation eventfd");
}

void stop_close(struct stop *stop)
{
	if (stop->fd >= 0)
		close(stop->fd);
	stop->fd = -1;
}

void stop_ask(struct stop *stop)
{
	uint64_t one = 1, never = 0;
	int saved = errno;

	/* The first request counts: a second one must not extend the grace period. */
	atomic_compare_exchange_strong(&stop->asked_ns, &never, clock_monotonic_ns());
	if (stop->fd >= 0 && write(stop->fd, &one, sizeof(one)) < 0) {
		/* The counter is full, so the descriptor is readable already. */
	}
	errno = saved;
}

bool stop_is_asked(const struct stop *stop)
{
	return stop && stop->asked_ns != 0;
}

bool stop_wait(const struct stop *stop, uint64_t timeout_ms)
{
	struct pollfd flag = { .fd = stop ? stop->fd : -1, .events = POLLIN };
	int timeout = timeout_ms > INT32_MAX ? INT32_MAX : (int)timeout_ms;

	/* A signal ends the sleep early; callers wait in a loop. */
	return poll(&flag, 1, timeout) <= 0 && !stop_is_asked(stop);
}

uint64_t stop_bound_ns(const struct stop *stop, uint64_t deadline_ns, uint64_t grace_ms)
{
	if (!stop_is_asked(stop))
		return deadline_ns;

	uint64_t ends_ns = stop->asked_ns + grace_ms * NS_PER_MS;

	return ends_ns < deadline_ns ? ends_ns : deadline_ns;
}
