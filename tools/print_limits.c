// SPDX-License-Identifier: Apache-2.0
/*
 * print-limits - every bound of every limits.h, as Markdown: docs/limits.md is made of it.
 *
 * tools/docs.py fails when a limits.h has a bound that is not here, so none goes unsaid. The value
 * is the compiler's; `beyond` says what happens, and names the counter or is the error.
 */
#include "agent_limits.h"
#include "chassis/limits.h"
#include "debuginfo/debuginfo_limits.h"
#include "ingester/limits.h"
#include "object/limits.h"
#include "profile/limits.h"
#include "querier/limits.h"
#include "store/limits.h"
#include "symbolizer/symbolizer_limits.h"

#include <stdint.h>
#include <stdio.h>

enum limit_unit { COUNT, BYTES, MS, SECONDS, UNIX_MS };

struct limit {
	const char *name;
	uint64_t value;
	enum limit_unit unit;
	const char *bounds, *beyond;
};

#define LIMIT(name, unit, bounds, beyond)         \
	{                                         \
#name, name, unit, bounds, beyond \
	}

#define REJECTED \
	"the message is rejected, `decima_ingester_rejected_messages_total{reason=\"limit\"}`"
#define SKIPPED      "`decima_ingester_skipped_total`"
#define BAD_DATA     "400 `bad_data` with a sentence"
#define UPLOADS      "`decima_agent_debuginfo_uploads_total"
#define RETRIES      "`decima_agent_debuginfo_retries_total"
#define BUILD_ERRORS "`decima_agent_unwind_table_build_errors_total"
#define PACE         "nothing is lost: it is a pace"
#define ROW_REFUSED  "the query fails with a sentence, `decima_querier_unreadable_rows_total`"
#define ANOTHER_ROW  "another row, `decima_ingester_rows_total`"

#define NO_UNWIND_TABLE                                                              \
	"the file has no table, its stacks are walked by frame pointers: the build " \
	"fails as `too_large`"

static const struct limit object[] = {
	LIMIT(ELF_SEGMENTS_MAX, COUNT, "loaded segments of an ELF file",
	      "the file has no addresses, `decima_agent_executables_unreadable_total`"),
	LIMIT(ELF_HEADERS_MAX, COUNT, "headers of an ELF file that are looked at",
	      "the others are not; without a build id the file is known by its htlhash"),
	LIMIT(ELF_NOTE_BYTES_MAX, BYTES, "one note segment",
	      "the rest is not read; without a build id the file is known by its htlhash"),
	LIMIT(ELF_NAMES_MAX, BYTES, "the names of an ELF file's sections",
	      "the upload is refused: 400 `bad_data` with a sentence"),
	LIMIT(ELF_SYMBOLS_BYTES_MAX, BYTES, "a symbol table, and its names",
	      "the file gives no table of names: `ERR_LIMIT` with a sentence"),
	LIMIT(SYMBOL_BUILD_MEMORY_MAX, BYTES, "memory to build a table of names",
	      "the file gives no table of names: `ERR_LIMIT` with a sentence"),
	LIMIT(SYMBOL_BUILD_STEPS_A_BYTE, COUNT,
	      "attributes, pieces, rows that a build looks at, for each byte of debug information",
	      "the file gives no table of names: `ERR_LIMIT` with a sentence"),
	LIMIT(SYMBOL_BUILD_STEPS_LEAST, COUNT, "such steps that every build may take",
	      "the file gives no table of names: `ERR_LIMIT` with a sentence"),
	LIMIT(GO_TABLE_MAX, BYTES, "a Go program's table of functions, or its data",
	      "the file gives no table of names: `ERR_LIMIT` with a sentence"),
	LIMIT(GO_VALUES_MAX, COUNT, "changes of line, or of file, in one function of Go",
	      "the rest of the function has no lines"),
	LIMIT(MINI_DEBUG_MAX, BYTES, "the file inside `.gnu_debugdata`",
	      "the file gives no table of names: `ERR_LIMIT` with a sentence"),
	LIMIT(DWARF_ATTRIBUTES_MAX, COUNT, "attributes of a shape of DWARF's entries",
	      "its unit is left out; its addresses have the names of symbols"),
	LIMIT(DWARF_BASES_MAX, COUNT, "entries of DWARF that one function's name is looked for in",
	      "the others are not asked"),
	LIMIT(DWARF_CONTEXTS_MAX, COUNT, "namespaces and types around a function",
	      "the outer ones are left out of a name that no linker knows"),
	LIMIT(DWARF_CONTEXT_BYTES_MAX, BYTES,
	      "the names of all namespaces and types around a function",
	      "the outer ones are left out of a name that no linker knows"),
	LIMIT(SYMBOL_LINES_MAX, COUNT, "lines of an address: a function and what was inlined",
	      "the innermost are left out"),
	LIMIT(SYMBOL_NAME_MAX, BYTES, "a name or a path in a table of names", "it is cut"),
	LIMIT(DEMANGLE_MAX, BYTES, "a name that is demangled", "it is shown as it is"),
	LIMIT(DEMANGLED_MAX, BYTES, "a demangled name", "it is shown mangled"),
	LIMIT(DEBUG_SEGMENTS_MAX, COUNT, "program headers of a file whose debug info is taken out",
	      UPLOADS "{outcome=\"malformed\"}`"),
	LIMIT(DEBUG_LINK_NAME_MAX, BYTES, "the file's name in a `.gnu_debuglink`",
	      "it names no file, what the program itself has is uploaded"),
	LIMIT(DEBUG_LINK_PATH_MAX, BYTES, "the path in a `.gnu_debugaltlink`",
	      "it names no file, what the program itself has is uploaded"),
	LIMIT(UNWIND_BUILD_MEMORY_MAX, BYTES, "memory to build a table of unwind rows",
	      NO_UNWIND_TABLE),
	LIMIT(UNWIND_SECTION_MAX, BYTES, "`.eh_frame` or `.debug_frame`", NO_UNWIND_TABLE),
	LIMIT(UNWIND_ROWS_MAX, COUNT, "rows of a table", NO_UNWIND_TABLE),
	LIMIT(UNWIND_REMEMBERED_MAX, COUNT, "states of unwinding that a function puts aside",
	      "it is not unwound, its stacks end there"),
	LIMIT(UNWIND_GO_STEPS_LEAST, COUNT,
	      "values of Go's tables that are looked at, beside one for each byte of them",
	      "further functions are walked by frame pointers"),
	LIMIT(UNWIND_SEARCH_MAX, BYTES,
	      "code that is searched for the return from signals, where nothing tells of it",
	      "it is not searched, a stack in a handler ends there"),
	LIMIT(UNWIND_FOLLOW_MAX, BYTES,
	      "a function whose code is followed, where nothing tells of it",
	      "it has no rows, a stack in it is walked by frame pointers"),
	LIMIT(BUILD_ID_BYTES_MIN, BYTES, "a build id that files are kept under, at least",
	      "400 `bad_data` with a sentence"),
	LIMIT(BUILD_ID_BYTES_MAX, BYTES, "a build id",
	      "it is none; the file is known by its htlhash"),
};

static const struct limit profile[] = {
	LIMIT(LABEL_NAME_MAX, BYTES, "a label's name",
	      "the label is dropped, " SKIPPED "; in a URL: " BAD_DATA),
	LIMIT(LABEL_VALUE_MAX, BYTES, "a label's value", "it is cut at a character, " SKIPPED),
	LIMIT(LABELS_MAX, COUNT, "labels of a series or of a sample", REJECTED),
	LIMIT(STACK_DEPTH_MAX, COUNT, "frames of a stack", "the root side is cut, " SKIPPED),
	LIMIT(NAME_MAX_BYTES, BYTES, "the name of a function or a file",
	      "it is cut at a character, " SKIPPED),
	LIMIT(TYPE_MAX, BYTES, "the id of a profile type", REJECTED "; in a selector: " BAD_DATA),
	LIMIT(STATUS_REASONS_MAX, COUNT, "reasons in an AgentStatus",
	      "it is not read, `decima_ingester_bad_status_total`; the batch counts"),
	LIMIT(STATUS_BYTES_MAX, BYTES, "an AgentStatus",
	      "it is not read, `decima_ingester_bad_status_total`; the batch counts"),
	LIMIT(VALUE_DEPTH_MAX, COUNT, "values inside values of an attribute",
	      "the label is dropped, " SKIPPED),
	LIMIT(SELECTOR_MAX, BYTES, "a selector", BAD_DATA),
	LIMIT(MATCHERS_MAX, COUNT, "matchers of a selector", BAD_DATA),
	LIMIT(REGEX_MATCH_MAX, COUNT, "steps of one match",
	      "422 `execution` with a sentence, `decima_querier_errors_total`"),
	LIMIT(REGEX_DEPTH_MAX, COUNT, "backtracking points of one match",
	      "422 `execution` with a sentence, `decima_querier_errors_total`"),
	LIMIT(REGEX_HEAP_MAX_KIB, COUNT, "KiB for those",
	      "422 `execution` with a sentence, `decima_querier_errors_total`"),
	LIMIT(MESSAGE_MAX, BYTES, "a message of OTLP, decompressed", REJECTED),
	LIMIT(MESSAGE_TABLE_MAX, COUNT, "entries of a table of its dictionary", REJECTED),
	LIMIT(MESSAGE_SAMPLES_MAX, COUNT, "samples of a message", REJECTED),
	LIMIT(MESSAGE_FRAMES_MAX, COUNT, "frames of all its stacks", REJECTED),
	LIMIT(MESSAGE_MEMORY_MAX, BYTES, "memory to decode it", REJECTED),
	LIMIT(SYMBOLIZE_BINARIES_MAX, COUNT, "build ids of a request for names",
	      "422 `execution` with a sentence"),
	LIMIT(SYMBOLIZE_ADDRESSES_MAX, COUNT, "its addresses, all together",
	      "422 `execution` with a sentence"),
	LIMIT(SYMBOLIZE_LINES_MAX, COUNT, "functions and inlined ones of an answer",
	      "further addresses have no name, with the reason `too_large`"),
	LIMIT(SYMBOLIZE_BYTES_MAX, BYTES, "an answer with names",
	      "further addresses have no name, with the reason `too_large`"),
};

static const struct limit chassis[] = {
	LIMIT(HTTP_CONNECTIONS, COUNT, "open connections, where the service says no other number",
	      "one more is cut, `decima_http_refused_connections_total`"),
	LIMIT(HTTP_SPARE_PART, COUNT,
	      "the part of them that is kept free of idle ones: one in so many",
	      "the one that was idle longest is cut, `decima_http_evictions_total`"),
	LIMIT(HTTP_REFUSED_AT_ONCE, COUNT, "connections being cut for that reason",
	      "further ones wait in the kernel's queue"),
	LIMIT(HTTP_MEMORY_MAX, BYTES, "request line and headers of a request",
	      "431 or 413 by libmicrohttpd, which counts nothing"),
	LIMIT(HTTP_URL_MAX, BYTES, "a URL", "414, `decima_http_requests_total`"),
	LIMIT(HTTP_PARAMS_MAX, COUNT, "parameters of a query",
	      "400 with a sentence, `decima_http_requests_total`"),
	LIMIT(HTTP_DRAIN_MAX, BYTES, "a refused body that is read, so that its answer arrives",
	      "the connection is closed"),
	LIMIT(HTTP_REQUEST_SECONDS, SECONDS, "a request from first to last byte, idle too",
	      "the connection is cut, `decima_http_timeouts_total`"),
	LIMIT(HTTP_RESPONSE_SECONDS, SECONDS, "time to take an answer away",
	      "the connection is cut, `decima_http_timeouts_total`"),
	LIMIT(HTTP_SLOWEST_BYTES, BYTES, "an answer's part that is given a second more",
	      "the connection is cut, `decima_http_timeouts_total`"),
	LIMIT(HTTP_ROUTES_MAX, COUNT, "paths that requests are counted by",
	      "requests count as of route `none`"),
	LIMIT(METRICS_MAX, COUNT, "metrics of a program", "it ends at its start: a defect of ours"),
	LIMIT(HEALTHCHECK_SECONDS, SECONDS, "an answer to `--healthcheck`",
	      "exit 1 with a sentence"),
};

static const struct limit store[] = {
	LIMIT(CHUNK_RAW_MAX, BYTES, "all columns of a row, decompressed", ROW_REFUSED),
	LIMIT(CHUNK_MEMORY_MAX, BYTES, "memory that reading a row takes", ROW_REFUSED),
	LIMIT(CHUNK_FRAMES_MAX, COUNT, "frames of all stacks of a row, written out", ROW_REFUSED),
	LIMIT(ROW_SAMPLES_MAX, COUNT, "samples of a row that is written", ANOTHER_ROW),
	LIMIT(ROW_RAW_MAX, BYTES, "all columns of a row that is written", ANOTHER_ROW),
	LIMIT(ROW_FRAMES_MAX, COUNT, "frames of all stacks of a row that is written", ANOTHER_ROW),
	LIMIT(UPSERT_ROWS, COUNT, "rows of one statement", "another statement"),
	LIMIT(SEEN_RANGES_MAX, COUNT, "ranges of missing batches of a spool",
	      "the oldest is given up, `decima_ingester_gap_batches_total`"),
	LIMIT(SUM_REASONS_MAX, COUNT, "reasons of one host in the fleet",
	      "samples of further ones add up under `other`"),
	LIMIT(PARTITIONS_KNOWN_MAX, COUNT, "names of tables that are held",
	      "all are forgotten and asked for again"),
	LIMIT(LOCK_TIMEOUT_MS, MS, "a wait for a lock that makes others wait", "it is tried again"),
	LIMIT(LOCK_TRIES, COUNT, "such tries",
	      "an error in the log; tried again a minute later, or with the next flush "
	      "(`decima_ingester_flush_errors_total`)"),
	LIMIT(DETACH_TIMEOUT_MS, MS, "a wait for a lock that only we wait for",
	      "an error in the log; tried again a minute later"),
	LIMIT(COMPACT_ROWS_MAX, COUNT, "rows merged at a time", PACE),
	LIMIT(COMPACT_SAMPLES_MAX, COUNT, "their samples", PACE),
	LIMIT(COMPACT_BYTES_MAX, BYTES, "their payloads", PACE),
	LIMIT(COMPACT_HELD_MAX, BYTES, "what was read of them, in memory", PACE),
	LIMIT(ROLLUP_WAIT_MS, MS, "how long an hour that is over waits for what comes late",
	      "what comes later makes further rows"),
	LIMIT(COMPACT_GRACE_MS, MS, "what was merged stays for queries that began before", PACE),
	LIMIT(READ_ROWS, COUNT, "directories of rows fetched at a time", PACE),
	LIMIT(READ_PAYLOAD_BYTES, BYTES, "payloads asked for at a time", PACE),
	LIMIT(READ_ALONE_BYTES, BYTES, "payloads of a query read by one connection",
	      "others of its `--query-connections` help"),
	LIMIT(READERS_MAX, COUNT, "what `--query-connections` may be", "an error at the start"),
	LIMIT(MATCH_PAIRS_SENT_MAX, COUNT, "label values a regular expression may become",
	      "the series are looked through instead: slower"),
	LIMIT(QUERY_SERIES_BYTES_MAX, BYTES, "memory of the series a query matches",
	      "422 `execution` with a sentence, `decima_querier_errors_total`"),
	LIMIT(QUERY_TIMEOUT_MAX_MS, MS, "what `--query-timeout` may be", "an error at the start"),
	LIMIT(SHARES_MAX, COUNT, "shared links; those that expired count for a day more",
	      "422 `execution`, `decima_querier_share_refusals_total{reason=\"full\"}`"),
	LIMIT(SHARE_STORE_MS, MS, "each wait for PostgreSQL while a link is stored",
	      "503 with a sentence, `decima_querier_errors_total`"),
	LIMIT(LATE_MS, MS, "how late a row's oldest sample may be",
	      "the row is marked late and looked for apart"),
	LIMIT(AHEAD_MS, MS, "how far ahead of its arrival a sample may be",
	      "see AHEAD_MAX_MS: nothing further ahead is stored"),
};

static const struct limit ingester[] = {
	LIMIT(HOST_ID_MAX, BYTES, "the key of a numbered message",
	      "it is rejected, `decima_ingester_rejected_messages_total{reason=\"bad_headers\"}`"),
	LIMIT(HOSTS_MAX, COUNT, "hosts whose numbers are held, `decima_ingester_hosts`",
	      "all is flushed, they are forgotten and read again"),
	LIMIT(KNOWN_SERIES_MAX, COUNT, "keys in each half of the cache of known series",
	      "the older half is forgotten and sent again, "
	      "`decima_ingester_series_cache_misses_total`"),
	LIMIT(LAG_PARTITIONS_MAX, COUNT, "partitions whose lag is told one by one",
	      "others are in `decima_ingester_lag_messages` alone"),
	LIMIT(AHEAD_MAX_MS, MS, "how far ahead of our clock a sample may be",
	      "it is skipped, `decima_ingester_skipped_total{reason=\"too_far_ahead\"}`"),
	LIMIT(CULPRITS_MAX, COUNT, "messages found to be refused by PostgreSQL and not passed yet",
	      "the oldest is looked for again, `decima_ingester_flush_errors_total`"),
	LIMIT(COMPACT_WAIT_MS, MS, "the pause between two looks for rows to merge", PACE),
	LIMIT(RETRY_MS, MS, "the pause before a server that is away is tried again", PACE),
};

static const struct limit querier[] = {
	LIMIT(GROUP_BY_MAX, COUNT, "labels that an answer is split by", BAD_DATA),
	LIMIT(FLEET_HOSTS_MAX, COUNT, "hosts of one page of the fleet",
	      "the answer says where the next page begins"),
	LIMIT(STEPS_MAX, COUNT, "points of a series of `query_range`", BAD_DATA),
	LIMIT(DEFAULT_STEPS, COUNT, "points where no step is given", "the step is longer"),
	LIMIT(GAUGE_SLOT_MS, MS, "in which a process of a gauge is there or not",
	      "a gauge's step is not shorter unless one is given"),
	LIMIT(MATCH_PARAMS_MAX, COUNT, "`match[]` parameters", BAD_DATA),
	LIMIT(POOL_MAX, COUNT, "what `--query-concurrency` may be", "an error at the start"),
	LIMIT(POOL_WAIT_MS, MS, "a query's wait for a free connection",
	      "503 with a sentence, `decima_querier_pool_refusals_total`"),
	LIMIT(POOL_WAITING_MAX, COUNT, "queries that wait for a free connection",
	      "503 with a sentence, `decima_querier_pool_refusals_total`"),
	LIMIT(POOL_LOOK_MS, MS, "how often who waits looks whether the client is still there",
	      PACE),
	LIMIT(READY_KEEP_MS, MS, "how often `/ready` asks PostgreSQL", "the last answer holds"),
	LIMIT(READY_WAIT_MS, MS, "how long it waits for each answer", "503 with a sentence"),
	LIMIT(NAME_FRESH_MS, MS,
	      "how long a binary's debug file, and that an address has no name, are believed",
	      "the symbolizer is asked again"),
	LIMIT(NAME_PIECE_ADDRESSES_MAX, COUNT, "addresses of one request to the symbolizer",
	      "further requests"),
	LIMIT(NAME_PIECE_BINARIES_MAX, COUNT, "binaries of one", "further requests"),
	LIMIT(NAME_PAUSE_MS, MS, "how long a symbolizer that failed is left alone",
	      "no names but cached ones, `decima_querier_name_requests_total`, and a warning"),
	LIMIT(SYMBOLZ_BODY_MAX, BYTES, "addresses that pprof asks names for",
	      "413, `decima_http_requests_total`"),
	LIMIT(SHARE_BODY_MAX, BYTES, "what is to be shared, as JSON",
	      "413, `decima_http_requests_total`"),
	LIMIT(DEFAULT_WINDOW_MS, MS, "the window where no start is given",
	      "what is older is asked for with `start`"),
	LIMIT(TIME_MAX_MS, UNIX_MS, "a time that can be asked for", BAD_DATA),
};

#define ANSWERED(outcome) "503 with a sentence, `decima_debuginfo_" outcome "`"

static const struct limit debuginfo[] = {
	LIMIT(CONNECTIONS, COUNT, "open connections",
	      "one more is cut, `decima_http_refused_connections_total`"),
	LIMIT(DESCRIPTORS, COUNT, "file descriptors that are asked for at the start",
	      "fewer are allowed: a warning in the log"),
	LIMIT(UPLOADS_MAX, COUNT, "uploads at once, `decima_debuginfo_uploads_running`",
	      ANSWERED("uploads_total{outcome=\"busy\"}")),
	LIMIT(FETCHES_MAX, COUNT,
	      "downloads from upstream at once, `decima_debuginfo_upstream_fetches`",
	      "others wait, `decima_debuginfo_upstream_waiters`"),
	LIMIT(FETCH_WAITERS_MAX, COUNT, "requests that wait for one of those",
	      ANSWERED("upstream_total{outcome=\"busy\"}")),
	LIMIT(FETCH_WAIT_SECONDS, SECONDS, "such a wait",
	      ANSWERED("upstream_total{outcome=\"busy\"}")),
	LIMIT(UPLOAD_STALL_SECONDS, SECONDS, "the pause between two pieces of an upload",
	      "it is cut, `decima_debuginfo_uploads_total{outcome=\"broken_off\"}`"),
	LIMIT(RETRY_AFTER_SECONDS, SECONDS, "when a client that was refused should come back",
	      PACE),
	LIMIT(GENERATIONS_MAX, COUNT, "build ids of one question for generations",
	      "422 `execution` with a sentence, `decima_http_requests_total`"),
	LIMIT(GENERATIONS_BODY_MAX, BYTES, "its body", "413, `decima_http_requests_total`"),
	LIMIT(SECTION_NAME_MAX, BYTES, "the name of a section that is asked for",
	      "400, `decima_debuginfo_answers_total{outcome=\"malformed\"}`"),
	LIMIT(SOURCE_PATH_MAX, BYTES, "the path of a source that is asked for",
	      "400, `decima_debuginfo_answers_total{outcome=\"malformed\"}`"),
	LIMIT(UPSTREAMS_MAX, COUNT, "upstream servers", "an error at the start"),
	LIMIT(FORWARDS_MAX, COUNT, "debuginfod servers that a question has passed",
	      "upstream is not asked, `decima_debuginfo_upstream_total{outcome=\"in_circles\"}`"),
	LIMIT(NEGATIVES, COUNT, "files that upstream did not have, remembered",
	      "an older one is forgotten and asked for again"),
	LIMIT(FAILURE_SECONDS, SECONDS, "the pause after upstream failed for a file",
	      ANSWERED("upstream_total{outcome=\"remembered\"}")),
	LIMIT(TOKEN_MIN, BYTES, "the token of uploads, at least", "an error at the start"),
	LIMIT(TOKEN_MAX, BYTES, "the token of uploads", "an error at the start"),
	LIMIT(KEEP_PERCENT, COUNT, "percent of `--store-max-bytes` that an eviction leaves",
	      "`decima_debuginfo_evicted_files_total`"),
	LIMIT(RESCAN_SECONDS, SECONDS, "how often the store is counted again", PACE),
};

#define NO_NAME(reason) "no names, `decima_symbolizer_addresses_total{outcome=\"" reason "\"}`"
#define WORK(outcome)   "`decima_symbolizer_works_total{outcome=\"" outcome "\"}`"

static const struct limit symbolizer[] = {
	LIMIT(SERVERS_MAX, COUNT, "debuginfod servers", "an error at the start"),
	LIMIT(REPLICAS_MAX, COUNT, "replicas that share a `--state-directory`",
	      "an error at the start"),
	LIMIT(CONNECTIONS_MAX, COUNT, "open connections",
	      "one more is cut, `decima_http_refused_connections_total`"),
	LIMIT(REQUEST_BODY_MAX, BYTES, "a request", "413, `decima_http_requests_total`"),
	LIMIT(JSON_BODY_MAX, BYTES, "a request in JSON",
	      "422 `execution` with a sentence, `decima_http_requests_total`"),
	LIMIT(NAME_BYTES_MAX, BYTES, "all different names of an answer",
	      "for the others " NO_NAME("too_large")),
	LIMIT(DEBUG_FILE_MAX, BYTES, "a debug file", NO_NAME("too_large") ", " WORK("too_large")),
	LIMIT(WORK_MEMORY_MAX, BYTES, "address space to read one",
	      "the worker ends, " WORK("crashed") " or " WORK("too_large")),
	LIMIT(WORKERS, COUNT, "files that are fetched and read at once",
	      "others wait, `decima_symbolizer_waiting_files`"),
	LIMIT(WORK_QUEUE_MAX, COUNT, "files that wait",
	      NO_NAME("pending") "; begun when asked again"),
	LIMIT(FETCH_SECONDS, SECONDS, "the fetching of one file from one server",
	      NO_NAME("unavailable")),
	LIMIT(FETCH_STALL_SECONDS, SECONDS, "a pause in it", NO_NAME("unavailable")),
	LIMIT(BUILD_SECONDS, SECONDS, "the reading of one file, CPU time and real",
	      "the worker is ended, " NO_NAME("too_large") ", " WORK("late")),
	LIMIT(TABLES_MAX, COUNT, "build ids of which a table, or the lack of one, is kept",
	      "the least recently used goes, `decima_symbolizer_tables_dropped_total`"),
	LIMIT(KEEP_TABLES_PERCENT, COUNT, "percent of `--cache-max-bytes` that an eviction leaves",
	      "`decima_symbolizer_tables_dropped_total`"),
	LIMIT(GENERATIONS_KEPT, COUNT, "build ids whose generation is remembered",
	      "an older one is asked for again, `decima_symbolizer_generations_total`"),
	LIMIT(GENERATIONS_ASKED_MAX, COUNT, "build ids of one question for generations",
	      "further questions"),
	LIMIT(GENERATIONS_ANSWER_MAX, BYTES, "its answer",
	      "the server is taken to know no generations"),
	LIMIT(GENERATION_FRESH_MS, MS, "how old a generation may be", PACE),
	LIMIT(GENERATION_WAIT_MS, MS, "the wait for it",
	      "what was known before holds, `decima_symbolizer_generations_total`"),
	LIMIT(SERVER_RETRY_MS, MS, "the pause after a server did not tell it", PACE),
	LIMIT(FOREIGN_SECONDS, SECONDS, "how long a server is taken to know no generations", PACE),
	LIMIT(ABSENT_SECONDS, SECONDS,
	      "how long it holds that nobody has a file, if its generation stays",
	      "it is sought again"),
	LIMIT(ABSENT_FOREIGN_SECONDS, SECONDS, "the same where a server knows no generations",
	      "it is sought again"),
	LIMIT(HUNG_SECONDS, SECONDS, "the time for nothing after which a server is taken to hang",
	      "what others do not have is `unavailable` at once"),
	LIMIT(HUNG_ALONE_SECONDS, SECONDS, "how long it is not asked for files then", PACE),
	LIMIT(FAILED_SECONDS, SECONDS, "the pause after a server failed for a file",
	      NO_NAME("unavailable")),
	LIMIT(UNREADABLE_SECONDS, SECONDS,
	      "how long it holds that a file cannot be read, if its generation stays",
	      "it is fetched again"),
	LIMIT(SECOND_BEST_SECONDS, SECONDS,
	      "the pause before a debug file is sought where there was only the executable",
	      "it is sought, and the names of before hold meanwhile"),
	LIMIT(REDIS_MS, MS, "a round of commands to Redis",
	      "it is left alone, `decima_symbolizer_redis_asked_total`"),
	LIMIT(REDIS_AWAY_MS, MS, "how long Redis is left alone after it failed",
	      "tables are built that others may have"),
	LIMIT(REDIS_ADDRESSES_MAX, COUNT, "addresses of a request that Redis is asked for",
	      "the others are named by tables"),
	LIMIT(REDIS_REPLY_MAX, BYTES, "its replies in one round",
	      "it is left alone, `decima_symbolizer_redis_asked_total`"),
	LIMIT(REDIS_KEEP_SECONDS, SECONDS, "how long answers stay in Redis", PACE),
	LIMIT(REDIS_PUBLISH_MAX, COUNT, "answers that wait to be put into Redis",
	      "they are not put, `decima_symbolizer_redis_put_total`"),
	LIMIT(REDIS_PUBLISH_BYTES, BYTES, "memory that these take",
	      "they are not put, `decima_symbolizer_redis_put_total`"),
	LIMIT(REDIS_ROUND_COMMANDS, COUNT, "commands of one round that puts", "another round"),
	LIMIT(REDIS_SEEN, COUNT, "addresses remembered to have been put there",
	      "an older one is put again"),
	LIMIT(LOCK_MS, MS, "how long a replica has a file to itself at most",
	      "another one builds it, too"),
	LIMIT(LOCK_WAIT_MS, MS, "how long others wait for what it finds", "they build it, too"),
	LIMIT(LOOK_AGAIN_MS, MS, "the least time between two looks at what is being built", PACE),
};

#define OVER_LIMIT(what) "`decima_agent_over_limit_total{what=\"" what "\"}`"

static const struct limit agent[] = {
	LIMIT(PROCESSES_MAX, COUNT, "processes that are known",
	      "samples of another have no mappings, " OVER_LIMIT("process")),
	LIMIT(MAPPINGS_MAX, COUNT, "executable mappings of a process",
	      "its others are not kept, " OVER_LIMIT("mapping")),
	LIMIT(EXECUTABLES_MAX, COUNT, "executables that are known",
	      "the one mapped longest ago goes; where all are in use " OVER_LIMIT("executable")),
	LIMIT(PROC_MAPS_BYTES_MAX, BYTES, "`/proc/PID/maps`",
	      "the rest is not read, " OVER_LIMIT("process_maps")),
	LIMIT(PROC_FILE_BYTES_MAX, BYTES, "other files of `/proc/PID`", "the rest is not read"),
	LIMIT(KALLSYMS_BYTES_MAX, BYTES, "`/proc/kallsyms`",
	      "the rest has no names, " OVER_LIMIT("kernel_symbol")),
	LIMIT(KSYMBOLS_MAX, COUNT, "kernel symbols told while running: BPF programs, trampolines",
	      "others have no names, " OVER_LIMIT("kernel_symbol")),
	LIMIT(KALLSYMS_MODULES_MAX, COUNT, "kernel modules",
	      "symbols of others are shown as the kernel's own"),
	LIMIT(EXTERNAL_LABELS_MAX, COUNT, "labels of `--metadata-external-labels`",
	      "an error at the start"),
	LIMIT(TIMELINE_BYTES_MAX, BYTES, "samples and events waiting for their turn",
	      "`decima_agent_samples_lost_total{reason=\"timeline_full\"}`, "
	      "`decima_agent_side_band_lost_total`"),
	LIMIT(CPUS_MAX, COUNT, "CPUs", "an error at the start"),
	LIMIT(CONTAINERS_MAX, COUNT, "containers whose names are known",
	      "more have ids alone, `decima_agent_docker_objects_total{outcome=\"too_many\"}`"),
	LIMIT(CONTAINERS_GONE_MAX, COUNT, "of them those that are gone",
	      "the first to go is forgotten first"),
	LIMIT(CONTAINER_TEXT_MAX, BYTES, "a container's name, image, service or project",
	      "it is cut at a character"),
	LIMIT(DOCKER_HEAD_MAX, BYTES, "the head of an answer of Docker's",
	      "asked again after a pause, `decima_agent_docker_failures_total`"),
	LIMIT(DOCKER_OBJECT_MAX, BYTES, "what Docker says of one container",
	      "it is passed over, `decima_agent_docker_objects_total{outcome=\"too_long\"}`"),
	LIMIT(DOCKER_ANSWER_MS, MS, "until an answer of Docker's begins",
	      "asked again after a pause, `decima_agent_docker_failures_total`"),
	LIMIT(DOCKER_LIST_MS, MS, "the list of all containers",
	      "asked again after a pause, `decima_agent_docker_failures_total`"),
	LIMIT(DOCKER_FIRST_STEP_MS, MS, "how often the start looks whether the list is there",
	      PACE),
	LIMIT(DOCKER_FIRST_STEPS, COUNT, "such looks",
	      "sampling begins; what is in a container has no name yet"),
	LIMIT(DOCKER_PAUSE_FIRST_MS, MS, "the first pause before Docker is asked again", PACE),
	LIMIT(DOCKER_PAUSE_MAX_MS, MS, "the pause before Docker is asked again", PACE),
	LIMIT(SPOOL_KEY_MAX, BYTES, "a host id", "an error at the start"),
	LIMIT(SPOOL_STATUS_MAX, BYTES, "the AgentStatus of a batch",
	      "`decima_agent_samples_unspooled_total`"),
	LIMIT(SPOOL_VALUE_MAX, BYTES, "a batch", "`decima_agent_samples_unspooled_total`"),
	LIMIT(SPOOL_BAD_FILES_MAX, COUNT, "unreadable batches set aside",
	      "more are removed; each counts in `decima_agent_spool_lost_batches_total`"),
	LIMIT(UPLOAD_FILE_BYTES_MAX, BYTES, "a file with debug info, and what is sent of it",
	      UPLOADS "{outcome=\"too_large\"}`; a debug file beside the program is not looked at"),
	LIMIT(UPLOADS_HELD_MAX, COUNT, "files kept open until it is decided whether they go out",
	      "offered again when there is room, `decima_agent_debuginfo_postponed_total`"),
	LIMIT(UPLOAD_TRIES_MAX, COUNT, "tries of one upload, over half an hour",
	      UPLOADS "{outcome=\"gave_up\"}`"),
	LIMIT(DESCRIPTORS_WANTED, COUNT, "file descriptors that are asked for at the start",
	      "a warning in the log; where there are none left, files are known by path alone"),
	LIMIT(UPLOADER_MEMORY_MAX, BYTES, "address space of the uploader process",
	      UPLOADS "{outcome=\"crashed\"}`"),
	LIMIT(UPLOAD_PAUSE_FIRST_MS, MS, "the first pause while no debuginfo service answers",
	      PACE),
	LIMIT(UPLOAD_PAUSE_MAX_MS, MS, "the longest", PACE),
	LIMIT(UPLOAD_RETRY_FIRST_MS, MS, "the first pause of a file that is refused for now", PACE),
	LIMIT(UPLOAD_RETRY_MAX_MS, MS, "the longest", PACE),
	LIMIT(UPLOAD_STALL_MS, MS, "time without a byte of an upload, or of its answer",
	      RETRIES "{outcome=\"broken_off\"}`, `{outcome=\"unreachable\"}`"),
	LIMIT(UPLOAD_GRACE_MS, MS, "reading a file's headers, beside `--debuginfo-upload-timeout`",
	      RETRIES "{outcome=\"timed_out\"}`"),
	LIMIT(UPLOAD_LOOK_MS, MS, "how often deleted files that are kept open are added up", PACE),
	LIMIT(UPLOAD_IDLE_MS, MS, "how long the uploading thread sleeps with nothing to do", PACE),
	LIMIT(UPLOADER_IDLE_MS, MS, "how long an uploader process waits for the next file", PACE),
	LIMIT(UNWIND_LISTS_BYTES_MAX, BYTES, "kernel memory for lists of processes' mappings",
	      "those sampled the longest time ago go, "
	      "`decima_agent_unwind_process_evictions_total`"),
	LIMIT(UNWIND_FILES_HELD_MAX, COUNT,
	      "files kept open until their unwind table is wanted, or nobody maps them",
	      "the oldest are closed; the processes that map them still lead to them"),
	LIMIT(UNWIND_ASKED_MAX, COUNT, "unwind tables that are fetched or built at a time",
	      "the others wait, `decima_agent_unwind_tables_waiting`"),
	LIMIT(UNWIND_CACHE_SPARE_BYTES, BYTES, "the disk that is left for the spool",
	      "tables are not kept on disk, `decima_agent_unwind_cache_left_out_total`"),
	LIMIT(UNWIND_LOAD_PAGES_MAX, COUNT,
	      "pages of unwind tables that are put into the kernel in one round",
	      "the others wait, `decima_agent_unwind_tables_waiting`"),
	LIMIT(UNWIND_MAPPED_MAX, COUNT, "segments of unwind tables that the agent has mapped",
	      PACE),
	LIMIT(UNWIND_KEPT_MS, MS,
	      "how long a table that was sampled stays, and what finds no room waits to ask again",
	      "the other is refused, `decima_agent_unwind_tables_refused_total`"),
	LIMIT(UNWIND_RETRY_MS, MS,
	      "the pause before a file is tried again that could not be read, at first", PACE),
	LIMIT(UNWIND_BUILDER_MEMORY_MAX, BYTES, "memory of the process that builds unwind tables",
	      BUILD_ERRORS "{reason=\"crashed\"}` or `\"too_large\"`"),
	LIMIT(UNWIND_BUILD_MS, MS, "the building of one unwind table",
	      BUILD_ERRORS "{reason=\"timed_out\"}`"),
	LIMIT(UNWIND_BUILD_TRIES, COUNT, "tries to build from a file that the builder died of",
	      BUILD_ERRORS "{reason=\"crashed\"}`"),
	LIMIT(UNWIND_BUILDER_IDLE_MS, MS, "how long a builder process waits for the next file",
	      PACE),
	LIMIT(PUBLISH_IN_FLIGHT_MAX, COUNT, "batches given to Kafka and not acknowledged",
	      "the others wait in the spool, `decima_agent_spool_batches`"),
	LIMIT(SIDE_BAND_RING_PAGES, COUNT, "pages of perf's ring, per CPU",
	      "records are lost, `decima_agent_side_band_lost_total`; `/proc` is read again"),
	LIMIT(SAMPLE_RING_BYTES_MAX, BYTES, "the ring of samples",
	      "`decima_agent_samples_lost_total{reason=\"ring_full\"}`"),
	LIMIT(SAMPLE_BYTES_TYPICAL, BYTES, "what a sample is taken to need in the ring",
	      "the ring holds for less than SAMPLE_RING_SECONDS"),
	LIMIT(SAMPLE_RING_SECONDS, SECONDS, "how long the ring holds samples",
	      "`decima_agent_samples_lost_total{reason=\"ring_full\"}`"),
	LIMIT(DRAIN_INTERVAL_MS, MS, "the time between two looks at the rings", PACE),
	LIMIT(EXITED_KEPT_MS, MS, "how long a process that ended is kept",
	      "later samples of it have no mappings"),
	LIMIT(RESCAN_INTERVAL_MS, MS, "how often `/proc` is read after records were lost", PACE),
	LIMIT(SWEEP_INTERVAL_MS, MS, "how often processes that are no more are looked for", PACE),
	LIMIT(CGROUP_REFRESH_MS, MS, "how old a process's control group may be", PACE),
	LIMIT(EXECUTABLE_RETRY_MS, MS, "the pause before a file is opened again", PACE),
	LIMIT(KALLSYMS_REFRESH_MS, MS, "how often kernel symbols are read again", PACE),
	LIMIT(BPFFS_LOCK_MS, MS, "the wait while another agent mounts the bpffs",
	      "it goes on without one and says so in the log"),
	LIMIT(DETACH_WAIT_MS, MS, "the wait for the timers of a predecessor to go",
	      "what the predecessor had counted is not booked; the log says so"),
	LIMIT(DETACH_STEP_MS, MS, "how often these waits look", PACE),
	LIMIT(BATCH_BYTES, BYTES, "a message", "it is split"),
	LIMIT(STOP_STEP_MS, MS, "how often a stop looks whether all was sent", PACE),
	LIMIT(STOP_GRACE_MS, MS, "the time for sending at a stop",
	      "the rest stays in the spool and is sent by the next agent"),
};

static void print_value(const struct limit *limit)
{
	static const struct {
		uint64_t of;
		const char *name;
	} sizes[] = { { UINT64_C(1) << 30, "GiB" }, { 1 << 20, "MiB" }, { 1 << 10, "KiB" } };
	uint64_t value = limit->value;

	switch (limit->unit) {
	case BYTES:
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			if (value >= sizes[i].of && value % sizes[i].of == 0) {
				printf("%ju %s", (uintmax_t)(value / sizes[i].of), sizes[i].name);
				return;
			}
		printf("%ju bytes", (uintmax_t)value);
		return;
	case MS:
		if (value >= 1000 && value % 1000 == 0)
			printf("%ju s", (uintmax_t)(value / 1000));
		else
			printf("%ju ms", (uintmax_t)value);
		return;
	case SECONDS:
		printf("%ju s", (uintmax_t)value);
		return;
	case UNIX_MS:
		printf("%ju ms, Unix time", (uintmax_t)value);
		return;
	case COUNT:
		printf("%ju", (uintmax_t)value);
		return;
	}
}

static void print_table(const char *file, const struct limit *limits, size_t count)
{
	printf("\n## %s\n\n| name | value | what it bounds | beyond |\n|---|---|---|---|\n", file);
	for (size_t i = 0; i < count; i++) {
		printf("| `%s` | ", limits[i].name);
		print_value(&limits[i]);
		printf(" | %s | %s |\n", limits[i].bounds, limits[i].beyond);
	}
}

#define TABLE(file, limits) print_table(file, limits, sizeof(limits) / sizeof(*(limits)))

int main(void)
{
	puts("# Limits\n\n"
	     "Whatever somebody else can choose has a bound. Those that are settings are in "
	     "[configuration.md](configuration.md):\n"
	     "`--spool-max-bytes` and `--memory-limit`, `--query-memory-limit`, "
	     "`--query-concurrency`, `--upload-max-bytes`, `--store-max-bytes` and "
	     "`--cache-max-bytes`. These are constants, each with\n"
	     "what happens beyond it: a counter ([metrics.md](metrics.md)), an answer, or an error "
	     "where it was asked for.\n"
	     "Made of the table in `tools/print_limits.c` by `tools/docs.py build --write`.");
	TABLE("lib/profile/limits.h", profile);
	TABLE("lib/object/limits.h", object);
	TABLE("lib/store/limits.h", store);
	TABLE("lib/chassis/limits.h", chassis);
	TABLE("services/agent/agent_limits.h", agent);
	TABLE("services/ingester/limits.h", ingester);
	TABLE("services/querier/limits.h", querier);
	TABLE("services/debuginfo/debuginfo_limits.h", debuginfo);
	TABLE("services/symbolizer/symbolizer_limits.h", symbolizer);
	return 0;
}
