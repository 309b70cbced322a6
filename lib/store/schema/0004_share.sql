-- SPDX-License-Identifier: Apache-2.0
-- Shared queries: the query and, if it was frozen, its result with names. The id is 128 random
-- bits; every client that has it may read the share. A share outlives its samples.
CREATE TABLE share (
    id       bytea       PRIMARY KEY,
    created  timestamptz NOT NULL,
    expires  timestamptz,          -- NULL: never
    query    text        NOT NULL,
    group_by text        NOT NULL, -- label names, separated by commas
    start_ms bigint      NOT NULL,
    end_ms   bigint      NOT NULL,
    warnings text        NOT NULL, -- of the result, one a line
    payload  bytea,                -- frozen rows; NULL: the query is run again each time
    reasons  bytea,                -- a byte for each frame of the payload: why it has no name
    bytes    bigint      NOT NULL  -- of the whole row
);
ALTER TABLE share ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX ON share (expires) WHERE expires IS NOT NULL;
