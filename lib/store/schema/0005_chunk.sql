-- SPDX-License-Identifier: Apache-2.0
-- Compaction merges raw rows, a few minutes later, into fewer and larger rows by the day of their
-- samples. It inserts the merged rows and marks the raw rows in one transaction, so a snapshot sees
-- each sample once.

CREATE TABLE chunk (
    day       date    NOT NULL,         -- of its samples, UTC
    bucket    integer NOT NULL,
    first_ms  bigint  NOT NULL,         -- of its samples, which all lie in one hour
    last_ms   bigint  NOT NULL,
    samples   integer NOT NULL,
    directory bytea   NOT NULL,
    payload   bytea   NOT NULL
) PARTITION BY RANGE (day);
ALTER TABLE chunk ALTER COLUMN directory SET STORAGE EXTERNAL,
                  ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX ON chunk (bucket, first_ms);

ALTER TABLE chunk_raw ADD COLUMN merged     timestamptz, -- when its samples went to `chunk`
                      ADD COLUMN unreadable boolean NOT NULL DEFAULT false; -- corrupt: will never be merged
CREATE INDEX ON chunk_raw (merged, arrival);
