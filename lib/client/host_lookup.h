// SPDX-License-Identifier: Apache-2.0
/*
 * host_lookup - resolves a host name before a deadline.
 *
 * getaddrinfo() may block for half a minute and cannot be cancelled. A thread of its own therefore
 * calls it; after the deadline the caller goes on, and the thread frees the result. At most
 * HOST_LOOKUPS_MAX of these threads exist. A numeric address needs no thread. Any thread.
 */
#pragma once

#include "base/err.h"
#include "client/client_limits.h"

struct addrinfo;

/*
 * The addresses for a TCP connection; the caller frees them with freeaddrinfo(). deadline_ns is
 * that of clock_monotonic_ns(). ERR_TIMEOUT: the deadline has passed. ERR_BUSY: HOST_LOOKUPS_MAX
 * lookups are running. ERR_IO: the name has no address, or the system failed.
 */
bool host_lookup(const char *host, uint16_t port, uint64_t deadline_ns,
		 struct addrinfo **ret_addresses, struct err *err) MUST_CHECK;

/* The number of lookups so far that returned ERR_BUSY. Any thread. */
uint64_t host_lookups_refused(void);
