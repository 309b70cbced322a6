-- SPDX-License-Identifier: Apache-2.0
-- What the ingester did not store of a host, by reason, in samples: with it each host's sum closes.
-- What of `skipped` was not too far ahead was too old.
ALTER TABLE agent_status ADD COLUMN rejected_samples bigint NOT NULL DEFAULT 0,
                         ADD COLUMN too_far_ahead    bigint NOT NULL DEFAULT 0;
