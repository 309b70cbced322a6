-- SPDX-License-Identifier: Apache-2.0
-- Sums of an hour in several manners, of which a question reads one; and those of gauges.

ALTER TABLE rollup ADD COLUMN kind integer NOT NULL DEFAULT 0; -- store/rollup_kind.h
ALTER TABLE chunk ADD COLUMN gauges boolean NOT NULL DEFAULT false; -- rolled up with its gauges
