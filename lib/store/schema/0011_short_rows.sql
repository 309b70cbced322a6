-- SPDX-License-Identifier: Apache-2.0
-- Series and label pairs are short (profile/limits.h): a row is a third of a page at most. With
-- PLAIN columns a new day has no TOAST table.
ALTER TABLE series ALTER COLUMN pairs SET STORAGE PLAIN;
ALTER TABLE label_pair ALTER COLUMN name SET STORAGE PLAIN,
                       ALTER COLUMN value SET STORAGE PLAIN;
