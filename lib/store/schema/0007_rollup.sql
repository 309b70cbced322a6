-- SPDX-License-Identifier: Apache-2.0
-- Hours of a bucket that are over, summed by series and stack, for queries about days. As in
-- 0005, the sums and the marks on their chunks are written in one transaction.

CREATE TABLE rollup (
    day       date    NOT NULL,         -- of its samples, UTC
    bucket    integer NOT NULL,
    first_ms  bigint  NOT NULL,         -- the beginning of the hour, as is last_ms: the time of all
    last_ms   bigint  NOT NULL,         -- sums in the row
    samples   integer NOT NULL,         -- sums
    directory bytea   NOT NULL,
    payload   bytea   NOT NULL
) PARTITION BY RANGE (day);
ALTER TABLE rollup ALTER COLUMN directory SET STORAGE EXTERNAL,
                   ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX ON rollup (bucket, first_ms);

ALTER TABLE chunk ADD COLUMN rolled     timestamptz, -- when it was summed up in `rollup`
                  ADD COLUMN unreadable boolean NOT NULL DEFAULT false;
CREATE INDEX ON chunk (rolled, first_ms);
