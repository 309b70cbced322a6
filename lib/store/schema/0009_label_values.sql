-- SPDX-License-Identifier: Apache-2.0
-- Names and values are read from the index alone, in its order. The day is in the index, so that
-- queries do not read the table to check it.
CREATE INDEX ON label_pair (name, value) INCLUDE (day);
DROP INDEX label_pair_name_value_idx;
