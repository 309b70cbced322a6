// SPDX-License-Identifier: Apache-2.0
/*
 * shared_hosts - finds hosts under whose id several agents send (store/active_agents.h). One thread
 * per connection.
 */
#pragma once

#include "client/postgres.h"

/*
 * Counts the hosts with several agents in the last five minutes, and logs up to ten of them. `pg`
 * must be open. ERR_IO: PostgreSQL failed; *ret_hosts is then unchanged.
 */
bool shared_hosts_check(struct postgres *pg, uint64_t *ret_hosts, struct err *err) MUST_CHECK;
