-- SPDX-License-Identifier: Apache-2.0
-- Names and values come out of the index alone, in its order: with the day in it, rows need not be
-- looked at to know that they are of the days of the partition.
CREATE INDEX ON label_pair (name, value) INCLUDE (day);
DROP INDEX label_pair_name_value_idx;
