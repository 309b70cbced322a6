-- SPDX-License-Identifier: Apache-2.0
-- Sums without instances of whole days, made of those of hours, which stay for who asks for hours.

ALTER TABLE rollup ADD COLUMN folded     timestamptz, -- when its day was summed up
                   ADD COLUMN unreadable boolean NOT NULL DEFAULT false;
CREATE INDEX ON rollup (first_ms) WHERE folded IS NULL AND kind IN (0, 2);
