-- SPDX-License-Identifier: Apache-2.0
-- Sums without instances for whole days, made from those of hours, which stay for queries by hour.

ALTER TABLE rollup ADD COLUMN folded     timestamptz, -- when its day was summed up
                   ADD COLUMN unreadable boolean NOT NULL DEFAULT false;
CREATE INDEX ON rollup (first_ms) WHERE folded IS NULL AND kind IN (0, 2);
