// SPDX-License-Identifier: Apache-2.0
/*
 * client_limits - the limits of the clients of other servers.
 */
#pragma once

#include "base/limit.h"

#define CLIENT_LIMITS(LIMIT)                                                                 \
	/* Bits of a number; each server is queried in turn. */                              \
	LIMIT(SERVERS_MAX, 16, COUNT, "debuginfod servers", "an error at startup")           \
	LIMIT(KAFKA_CLOSE_MS, 2000, MS, "how long freeing a client of Kafka may take",       \
	      "the client is left to its threads, `decima_ingester_kafka_clients_left`")     \
	LIMIT(HOST_LOOKUPS_MAX, 8, COUNT, "lookups of host names that run at the same time", \
	      "`ERR_BUSY` to the caller, who goes on without Redis: "                        \
	      "`decima_symbolizer_host_lookups_refused_total`")

CLIENT_LIMITS(LIMIT_CONSTANT)
