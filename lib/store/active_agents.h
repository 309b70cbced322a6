// SPDX-License-Identifier: Apache-2.0
/*
 * active_agents - SQL that finds hosts under whose id several agents send: machines that were
 * cloned with their machine id and host name. Each agent has an epoch of its own, so nothing is
 * lost, but no query can distinguish their samples.
 *
 * An epoch is the time at which it began. An agent never goes on with an older epoch: it only sends
 * what waits in the spool from before. So a batch of an older epoch that was spooled after the
 * newest epoch began comes from another agent.
 */
#pragma once

/*
 * A column of a query of agent_status: whether an agent sends with this epoch now. An epoch without
 * a batch for five minutes is over, unless the host sent no others since. (PostgreSQL's clock: the
 * host's clock may have been set back when its newest epoch began.)
 */
#define AGENT_IS_ACTIVE                                                       \
	"(received_at > max(received_at) OVER by_host - interval '5 minutes'" \
	" AND (epoch = max(epoch) OVER by_host OR status <> ''"               \
	" AND last_seen > to_timestamp(max(epoch) OVER by_host / 1e9)))"
#define AGENT_WINDOW "WINDOW by_host AS (PARTITION BY host COLLATE \"C\")"
