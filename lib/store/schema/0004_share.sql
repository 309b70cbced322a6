-- SPDX-License-Identifier: Apache-2.0
-- What somebody made a link of: a question and, where it was frozen, its answer with names. The id
-- is 128 random bits, and who has it may look. A share outlives the samples it was made of.
CREATE TABLE share (
    id       bytea       PRIMARY KEY,
    created  timestamptz NOT NULL,
    expires  timestamptz,          -- NULL: never
    query    text        NOT NULL,
    group_by text        NOT NULL, -- names of labels, with commas
    start_ms bigint      NOT NULL,
    end_ms   bigint      NOT NULL,
    warnings text        NOT NULL, -- that the answer came with, a line each
    payload  bytea,                -- store/chunk.h; NULL: the question is asked anew each time
    reasons  bytea,                -- a byte for each frame of the payload: why it has no name
    bytes    bigint      NOT NULL  -- of all that
);
ALTER TABLE share ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX ON share (expires) WHERE expires IS NOT NULL;
