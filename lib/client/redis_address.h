// SPDX-License-Identifier: Apache-2.0
/*
 * redis_address - parses the address of a Redis server (libcurl's URL parser).
 *
 *     HOST:PORT    redis://[[USER]:PASSWORD@]HOST[:PORT][/NUMBER]
 *
 * As for redis-cli, userinfo without a colon is the password. Userinfo and host are
 * percent-decoded; a host may be an IPv6 address in brackets. Used by redis.c only. Any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct redis_address {
	const char *host; /* an IPv6 address is without brackets */
	uint16_t port;
	str user, password; /* empty: none */
	uint64_t number;    /* of the database */
};

/* Texts are in the arena. ERR_INVALID, the only failure: not such an address; the message has no
 * part of it, because it may contain a password. */
bool redis_address_parse(const char *text, struct arena *arena, struct redis_address *ret_address,
			 struct err *err) MUST_CHECK;
