-- SPDX-License-Identifier: Apache-2.0
-- The other side of a comparison: what the columns without b_ say of the first. NULL: it is none.
ALTER TABLE share
    ADD COLUMN b_query    text,
    ADD COLUMN b_start_ms bigint,
    ADD COLUMN b_end_ms   bigint,
    ADD COLUMN b_payload  bytea,
    ADD COLUMN b_reasons  bytea;
ALTER TABLE share ALTER COLUMN b_payload SET STORAGE EXTERNAL;
