// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizer_limits - the limits of requests, downloads, table builds and caches.
 *
 * The disk space of tables and the timeout of a request are settings. The limits of a request's
 * contents are in lib/profile/limits.h. Rejected requests are counted by status in
 * decima_http_requests_total; addresses that exceed a size limit are counted in
 * decima_symbolizer_addresses_total{outcome="too_large"}.
 */
#pragma once

/* Address space of a process that reads a debug file, in bytes. */
#define BUILD_MEMORY_MAX (UINT64_C(6) << 30)
/* Address space of a process that fetches debug files, in bytes. */
#define FETCH_MEMORY_MAX (UINT64_C(1) << 30)
/* Size of a debug file, in bytes. */
#define DEBUG_FILE_MAX (UINT64_C(2) << 30)

enum {
	SERVERS_MAX = 16,      /* debuginfod servers */
	REPLICAS_MAX = 64,     /* replicas that share a --state-directory */
	CONNECTIONS_MAX = 128, /* concurrent HTTP connections */
	REQUEST_BODY_MAX = 16 << 20,
	JSON_BODY_MAX = 2 << 20,     /* for people; the parsed tree needs up to 100 times as much */
	NAME_BYTES_MAX = 32 << 20,   /* sum of all distinct names of a response */
	WORKERS = 2,                 /* files that are fetched and read concurrently */
	BUILD_QUEUE_MAX = 4096,      /* files that wait for a worker */
	FETCH_SECONDS = 300,         /* to fetch one file from one server */
	FETCH_STALL_SECONDS = 20,    /* with almost no data, then the fetch is aborted */
	WORKER_NICE = 10,            /* priority of the processes that fetch and read */
	BUILD_SECONDS = 300,         /* to read one file: CPU time and wall time */
	TABLES_MAX = 16384,          /* build ids with a table or a cached failure */
	KEEP_TABLES_PERCENT = 95,    /* of --cache-max-bytes that an eviction leaves */
	GENERATIONS_KEPT = 64 << 10, /* build ids whose generation is cached */
	GENERATIONS_QUERY_MAX = 10000, /* build ids in one query for generations */
	GENERATIONS_RESPONSE_MAX = 2 << 20,
	GENERATION_FRESH_MS = 2000, /* how long a cached generation is used */
	GENERATION_WAIT_MS = 2000,  /* timeout of a query for generations */
	SERVER_RETRY_MS = 3000,     /* pause after a server failed to report generations */
	FOREIGN_SECONDS = 60,       /* how long a server is assumed to know no generations */
	ABSENT_SECONDS = 10,        /* how long a miss is cached, if all servers know generations */
	ABSENT_FOREIGN_SECONDS = 60,    /* how long a miss is cached otherwise */
	HUNG_SECONDS = 3,               /* a server hangs if it took longer and returned nothing */
	HUNG_PAUSE_SECONDS = 30,        /* how long a hung server is not queried for files */
	FAILED_SECONDS = 5,             /* pause after a server failed for a file */
	UNREADABLE_SECONDS = 600,       /* how long the error of an unreadable file is cached */
	FALLBACK_REFRESH_SECONDS = 600, /* retry interval for a better file than an executable */
	REDIS_MS = 100,                 /* timeout of a round of commands to Redis */
	REDIS_PAUSE_MS = 5000,          /* pause after Redis failed */
	REDIS_ADDRESSES_MAX = 20000,    /* addresses of a request that are looked up in Redis */
	REDIS_REPLY_MAX = 32 << 20,     /* bytes of Redis' replies in one round */
	REDIS_TTL_SECONDS = 86400,      /* how long names stay in Redis */
	REDIS_PUBLISH_MAX = 256,        /* publications that wait to be sent to Redis */
	REDIS_PUBLISH_BYTES = 64 << 20, /* memory of these publications */
	REDIS_ROUND_COMMANDS = 512,     /* commands in one round of a publication */
	REDIS_SEEN = 1 << 16,           /* addresses remembered as published */
	LOCK_MS = 30000,                /* lifetime of a replica's build lock */
	LOCK_WAIT_MS = 5000,            /* how long other replicas wait for its result */
	POLL_INTERVAL_MS = 20,          /* minimum time between two checks for finished tables */
};
