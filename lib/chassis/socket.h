// SPDX-License-Identifier: Apache-2.0
/*
 * socket - addresses as people write them, "127.0.0.1:7070", ":7070", "[::1]:7070", "name:7070".
 *
 * Without a host part a listener takes every address of the machine, IPv6 and IPv4; who connects
 * to such an address gets the loopback. Port 0 is one that the system picks.
 */
#pragma once

#include "base/err.h"

bool socket_listen(const char *address, int *ret_fd, uint16_t *ret_port,
		   struct err *err) MUST_CHECK;

/* Sends and receives on it give up after timeout_ms too. */
bool socket_connect(const char *address, uint64_t timeout_ms, int *ret_fd,
		    struct err *err) MUST_CHECK;
