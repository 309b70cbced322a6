// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.h"

#include "base/clock.h"
#include "base/liveness.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

bool cancel_open(struct cancel *cancel, struct err *err)
{
	cancel->requested_ns = 0;
	cancel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return cancel->fd >= 0 || err_errno(err, "create the cancellation eventfd");
}

void cancel_close(struct cancel *cancel)
{
	if (cancel->fd >= 0)
		close(cancel->fd);
	cancel->fd = -1;
}

void cancel_request(struct cancel *cancel)
{
	uint64_t one = 1, never = 0;
	int saved = errno;

	/* The first request counts: a second one must not extend the grace period. */
	atomic_compare_exchange_strong(&cancel->requested_ns, &never, clock_monotonic_ns());
	if (cancel->fd >= 0 && write(cancel->fd, &one, sizeof(one)) < 0) {
		/* The counter is full, so the descriptor is readable already. */
	}
	errno = saved;
}

bool cancel_requested(const struct cancel *cancel)
{
	return cancel && cancel->requested_ns != 0;
}

bool cancel_wait(const struct cancel *cancel, uint64_t timeout_ms)
{
	struct pollfd flag = { .fd = cancel ? cancel->fd : -1, .events = POLLIN };
	int part_ms, ready;

	do {
		part_ms = liveness_wait_ms(timeout_ms);
		timeout_ms -= (uint64_t)part_ms;
		ready = poll(&flag, 1, part_ms);
	} while (ready == 0 && timeout_ms);
	/* A signal ends the sleep early; callers wait in a loop. */
	return ready <= 0 && !cancel_requested(cancel);
}

uint64_t cancel_deadline_ns(const struct cancel *cancel, uint64_t deadline_ns, uint64_t grace_ms)
{
	if (!cancel_requested(cancel))
		return deadline_ns;

	uint64_t ends_ns = cancel->requested_ns + grace_ms * NS_PER_MS;

	return ends_ns < deadline_ns ? ends_ns : deadline_ns;
}
