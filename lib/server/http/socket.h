// SPDX-License-Identifier: Apache-2.0
/*
 * socket - TCP listeners and connections by textual address.
 *
 * An address is "127.0.0.1:7070", ":7070", "[::1]:7070" or "name:7070".
 * Without a host part a listener uses all addresses of the machine, IPv6 and IPv4, and a connection
 * goes to the loopback address. Port 0: the system picks a port. ERR_INVALID: a malformed address;
 * ERR_IO: the system or the peer failed. The caller closes *ret_fd.
 */
#pragma once

#include "base/err.h"

/* A non-blocking listener. */
bool socket_listen(const char *address, int *ret_fd, uint16_t *ret_port,
		   struct err *err) MUST_CHECK;

/*
 * Receive and discard until the peer ends the stream, nothing arrives for pause_ms, or the socket
 * fails or is shut down by another thread. False: more than `max` bytes arrived.
 */
bool socket_discard(int fd, uint64_t max, uint64_t pause_ms) MUST_CHECK;

/* A blocking socket. Connecting, and each send and receive on it, fail after timeout_ms. */
bool socket_connect(const char *address, uint64_t timeout_ms, int *ret_fd,
		    struct err *err) MUST_CHECK;
