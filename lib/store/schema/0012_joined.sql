-- SPDX-License-Identifier: Apache-2.0
-- Raw rows with few samples are coalesced into one raw row until their hour is over. That row is
-- marked as joined, the original rows as merged.
ALTER TABLE chunk_raw ADD COLUMN joined boolean NOT NULL DEFAULT false;
