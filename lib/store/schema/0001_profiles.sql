-- SPDX-License-Identifier: Apache-2.0
-- The label index, the raw rows of samples, and the offsets up to which the topic is stored.
--
-- Partitioned tables have no DEFAULT partition and no foreign key references them: either
-- would make creating or dropping a partition wait for queries (store/maintenance/partition.h).
-- Ids are 64-bit XXH3 hashes, so every ingester computes the same id.

CREATE TABLE label_pair (
    day   date   NOT NULL,              -- of samples, UTC
    id    bigint NOT NULL,              -- of name and value
    name  text   COLLATE "C" NOT NULL,  -- "__type__": a profile type; "__sample__": a sample label's name
    value text   COLLATE "C" NOT NULL
) PARTITION BY RANGE (day);
CREATE UNIQUE INDEX ON label_pair (day, id);
CREATE INDEX ON label_pair (name, value);

CREATE TABLE series (
    day   date     NOT NULL,
    id    bigint   NOT NULL,            -- of type and labels
    pairs bigint[] NOT NULL             -- its labels, and its type as the pair "__type__"
) PARTITION BY RANGE (day);
CREATE UNIQUE INDEX ON series (day, id);
CREATE INDEX ON series USING gin (pairs);

-- One flush of one bucket: store/chunk/.
CREATE TABLE chunk_raw (
    arrival   timestamptz NOT NULL,     -- never more than 10 minutes before the row's last sample
    bucket    integer     NOT NULL,
    first_ms  bigint      NOT NULL,     -- of its samples, Unix milliseconds
    last_ms   bigint      NOT NULL,
    late      boolean     NOT NULL,     -- the first sample is more than an hour older than arrival
    samples   integer     NOT NULL,
    directory bytea       NOT NULL,
    payload   bytea       NOT NULL
) PARTITION BY RANGE (arrival);
-- Both are compressed already or do not compress; EXTERNAL also keeps substring() cheap.
ALTER TABLE chunk_raw ALTER COLUMN directory SET STORAGE EXTERNAL,
                      ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX ON chunk_raw (bucket, first_ms);
CREATE INDEX ON chunk_raw (first_ms) WHERE late;

-- Compaction writes `chunk` and `rollup`: by sample day, with keys that begin with the bucket.

-- The offset up to which a partition of a topic is stored. The row is the fence: a writer compares the
-- old value before it changes it, and stores the samples up to next_offset in the same transaction.
CREATE TABLE consumer_offset (
    topic             text    NOT NULL,
    partition         integer NOT NULL,
    next_offset       bigint  NOT NULL,
    last_key          bytea,            -- of the message before next_offset: distinguishes a topic from
    last_timestamp_ms bigint,           -- another of the same name
    PRIMARY KEY (topic, partition)
) WITH (fillfactor = 50);

-- What was received from an agent's spool: store/write/writer.h, struct store_host.
CREATE TABLE agent_status (
    host              text           NOT NULL,
    epoch             bigint         NOT NULL,
    revision          bigint         NOT NULL,            -- of the row: the host's fence
    highest           bigint         NOT NULL,            -- sequence number that was received
    missing           int8multirange NOT NULL,            -- sequence numbers below it that are missing
    gap               bigint         NOT NULL,            -- sequence numbers that were given up
    status            bytea          NOT NULL,            -- AgentStatus (proto/status.proto)
    node              text           NOT NULL,            -- this and the next four columns: from status
    version           text           NOT NULL,
    sampled           bigint         NOT NULL,            -- samples, as in the next two columns
    lost              bigint         NOT NULL,
    truncated         bigint         NOT NULL,
    last_seen         timestamptz    NOT NULL,
    stored            bigint         NOT NULL,            -- samples
    duplicate_batches bigint         NOT NULL,
    rejected_batches  bigint         NOT NULL,
    skipped           bigint         NOT NULL,            -- samples of stored batches that were left out
    PRIMARY KEY (host, epoch)
) WITH (fillfactor = 50);
CREATE INDEX ON agent_status (last_seen);
