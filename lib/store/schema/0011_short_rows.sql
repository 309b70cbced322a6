-- SPDX-License-Identifier: Apache-2.0
-- Series and label pairs are short (profile/limits.h): a row is a third of a page at most. Of
-- columns that are never moved out of a row a new day has no table for what would be.
ALTER TABLE series ALTER COLUMN pairs SET STORAGE PLAIN;
ALTER TABLE label_pair ALTER COLUMN name SET STORAGE PLAIN,
                       ALTER COLUMN value SET STORAGE PLAIN;
