-- SPDX-License-Identifier: Apache-2.0
-- When the last message of a host arrived, by the database's clock; `last_seen` is by the host's clock.
-- A host that was silent for as long as samples are kept is removed.
ALTER TABLE agent_status ADD COLUMN received_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX ON agent_status (received_at);
DROP INDEX agent_status_last_seen_idx;
