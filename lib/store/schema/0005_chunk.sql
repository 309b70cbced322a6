-- SPDX-License-Identifier: Apache-2.0
-- Rows as they came are merged, a few minutes later, into fewer and larger ones of the day of their
-- samples. The merged rows and the marks on those they were made of come in one transaction, so a
-- snapshot sees each sample once.

CREATE TABLE chunk (
    day       date    NOT NULL,         -- of its samples, UTC
    bucket    integer NOT NULL,
    first_ms  bigint  NOT NULL,         -- of its samples, which are all of one hour
    last_ms   bigint  NOT NULL,
    samples   integer NOT NULL,
    directory bytea   NOT NULL,
    payload   bytea   NOT NULL
) PARTITION BY RANGE (day);
ALTER TABLE chunk ALTER COLUMN directory SET STORAGE EXTERNAL,
                  ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX ON chunk (bucket, first_ms);

ALTER TABLE chunk_raw ADD COLUMN merged     timestamptz, -- when its samples went to `chunk`
                      ADD COLUMN unreadable boolean NOT NULL DEFAULT false; -- damaged: never will
CREATE INDEX ON chunk_raw (merged, arrival);
