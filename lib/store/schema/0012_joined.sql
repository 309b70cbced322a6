-- SPDX-License-Identifier: Apache-2.0
-- Few samples of a bucket wait for the rest of their hour where they came: in a row that was joined
-- of others, which are marked as merged.
ALTER TABLE chunk_raw ADD COLUMN joined boolean NOT NULL DEFAULT false;
