// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizer_limits - the bounds of what is asked, fetched, built and kept.
 *
 * The disk space for tables and a request's time are settings; those of a request's contents are in
 * lib/profile/limits.h. Refusals are in decima_http_requests_total by status, what has no name for
 * its size in decima_symbolizer_addresses_total{outcome="too_large"}.
 */
#pragma once

/* Bytes of address space that reading one debug file may take. */
#define BUILD_MEMORY_MAX (UINT64_C(6) << 30)
/* Bytes of a debug file. */
#define DEBUG_FILE_MAX (UINT64_C(2) << 30)

enum {
	SERVERS_MAX = 16,      /* debuginfod servers */
	REPLICAS_MAX = 64,     /* that share a --state-directory */
	CONNECTIONS_MAX = 128, /* HTTP, at once */
	REQUEST_BODY_MAX = 16 << 20,
	JSON_BODY_MAX = 2 << 20,       /* for people; its tree takes up to 100 times as much */
	NAME_BYTES_MAX = 32 << 20,     /* of all different names of an answer */
	WORKERS = 2,                   /* files that are fetched and read at once */
	BUILD_QUEUE_MAX = 4096,        /* files that wait for one of them */
	FETCH_SECONDS = 300,           /* for one file from one server */
	FETCH_STALL_SECONDS = 20,      /* of almost nothing coming */
	BUILD_SECONDS = 300,           /* to read one file, CPU time and real */
	TABLES_MAX = 16384,            /* build ids that something is kept of */
	KEEP_TABLES_PERCENT = 95,      /* of --cache-max-bytes that an eviction leaves */
	GENERATIONS_KEPT = 64 << 10,   /* build ids whose generation is remembered */
	GENERATIONS_QUERY_MAX = 10000, /* in one question */
	GENERATIONS_RESPONSE_MAX = 2 << 20,
	GENERATION_FRESH_MS = 2000, /* how old an answer may be */
	GENERATION_WAIT_MS = 2000,  /* for it */
	SERVER_RETRY_MS = 3000,     /* the pause after a server did not say */
	FOREIGN_SECONDS = 60,       /* how long a server is taken to know no generations */
	ABSENT_SECONDS = 10,        /* how long it holds that nobody has a file: with generations */
	ABSENT_FOREIGN_SECONDS = 60, /* and where a server knows none */
	HUNG_SECONDS = 3,            /* a server that took longer to say nothing hangs */
	HUNG_PAUSE_SECONDS = 30,     /* and is not asked for files so long */
	FAILED_SECONDS = 5,          /* the pause after a server failed for a file */
	UNREADABLE_SECONDS = 600, /* how long it holds that a file of a generation cannot be read */
	FALLBACK_REFRESH_SECONDS =
		600,           /* the pause before a better file than an executable is sought */
	REDIS_MS = 100,        /* a round of commands to Redis */
	REDIS_PAUSE_MS = 5000, /* how long it is left alone after it failed */
	REDIS_ADDRESSES_MAX = 20000,    /* of a request that Redis is asked for */
	REDIS_REPLY_MAX = 32 << 20,     /* bytes of its replies in one round */
	REDIS_TTL_SECONDS = 86400,      /* how long an answer stays there */
	REDIS_PUBLISH_MAX = 256,        /* answers that wait to be put there */
	REDIS_PUBLISH_BYTES = 64 << 20, /* memory that they take */
	REDIS_ROUND_COMMANDS = 512,     /* of one round that puts */
	REDIS_SEEN = 1 << 16,           /* addresses that are remembered to have been put there */
	LOCK_MS = 30000,                /* how long one replica has a file to itself at most */
	LOCK_WAIT_MS = 5000,            /* how long others wait for what it finds */
	POLL_INTERVAL_MS = 20, /* the least time between two looks at what is being built */
};
