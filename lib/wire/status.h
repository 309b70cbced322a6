// SPDX-License-Identifier: Apache-2.0
/*
 * status - an agent's status, sent with each batch in the header `decima-status` (AgentStatus).
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "profile/limits.h"

struct status_count {
	str reason;
	uint64_t samples;
};

struct agent_status {
	str node, version;
	uint32_t frequency_hz;
	uint64_t sampled, batch_samples, time_unix_ns;
	uint64_t spooled, sent; /* samples put into the spool; acknowledged by Kafka. 0: unknown */
	uint64_t spool_oldest;  /* sequence number; lower ones are not sent again. 0: unknown */
	struct status_count lost[STATUS_REASONS_MAX], truncated[STATUS_REASONS_MAX];
	size_t lost_count, truncated_count;
};

/* Encode. Cannot fail; the bytes are in the arena. */
str status_write(const struct agent_status *status, struct arena *arena);

/*
 * Samples that were put into the spool, the batch of this status included. If an older agent does
 * not say so: what it sampled and did not lose before the spool. Cannot fail.
 */
uint64_t status_spooled(const struct agent_status *status);

/* Samples that were put into the spool and lost there: reasons spool_full, _corrupt, _refused. */
uint64_t status_spool_lost(const struct agent_status *status);

/*
 * Texts are copied into the arena. ERR_INVALID: not an AgentStatus, longer than STATUS_BYTES_MAX,
 * or more than STATUS_REASONS_MAX reasons. *ret_status is unchanged after a failure. Any thread.
 */
bool status_read(str bytes, struct agent_status *ret_status, struct arena *arena,
		 struct err *err) MUST_CHECK;
