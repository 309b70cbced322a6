-- SPDX-License-Identifier: Apache-2.0
-- The second side of a comparison, like the columns without b_ for the first. NULL: not a comparison.
ALTER TABLE share
    ADD COLUMN b_query    text,
    ADD COLUMN b_start_ms bigint,
    ADD COLUMN b_end_ms   bigint,
    ADD COLUMN b_payload  bytea,
    ADD COLUMN b_reasons  bytea;
ALTER TABLE share ALTER COLUMN b_payload SET STORAGE EXTERNAL;
