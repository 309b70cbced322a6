-- SPDX-License-Identifier: Apache-2.0
-- Hashes of the newest batches of a spool (store/write/batch_hashes.h): another batch under a number
-- that was received is not a duplicate but a conflict. The row is written with each flush, so the
-- hashes stay in it, uncompressed, and not in a TOAST table.
ALTER TABLE agent_status ADD COLUMN batch_hashes     bytea  NOT NULL DEFAULT '',
                         ADD COLUMN conflict_batches bigint NOT NULL DEFAULT 0,
                         ADD COLUMN conflict_samples bigint NOT NULL DEFAULT 0; -- by their statuses
ALTER TABLE agent_status ALTER COLUMN batch_hashes SET STORAGE PLAIN;

-- The samples of missing batches (store/write/transit.h). The value holds if the revision in
-- missing_revision is the row's; otherwise an older ingester wrote the row last.
ALTER TABLE agent_status ADD COLUMN missing_samples  bigint NOT NULL DEFAULT 0,
                         ADD COLUMN missing_revision bigint NOT NULL DEFAULT 0;
