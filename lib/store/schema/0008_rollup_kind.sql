-- SPDX-License-Identifier: Apache-2.0
-- Several kinds of sums of an hour, of which a query reads one; and those of gauges.

ALTER TABLE rollup ADD COLUMN kind integer NOT NULL DEFAULT 0; -- store/compact/rollup.h
ALTER TABLE chunk ADD COLUMN gauges boolean NOT NULL DEFAULT false; -- rolled up with its gauges
