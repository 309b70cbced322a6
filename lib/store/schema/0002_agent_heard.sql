-- SPDX-License-Identifier: Apache-2.0
-- When a host was last heard of, by our own clock: `last_seen` is what the host's clock said.
-- Hosts that nobody has heard of for as long as samples are kept are forgotten.
ALTER TABLE agent_status ADD COLUMN heard timestamptz NOT NULL DEFAULT now();
CREATE INDEX ON agent_status (heard);
DROP INDEX agent_status_last_seen_idx;
