-- SPDX-License-Identifier: Apache-2.0
-- Samples of a host that the ingester did not store, by reason: they complete the host's balance.
-- The samples in `skipped` that were not too far ahead were too old.
ALTER TABLE agent_status ADD COLUMN rejected_samples bigint NOT NULL DEFAULT 0,
                         ADD COLUMN too_far_ahead    bigint NOT NULL DEFAULT 0;
