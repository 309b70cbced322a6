// SPDX-License-Identifier: Apache-2.0
/*
 * limits - the upper bounds of labels, stacks, selectors and messages.
 *
 * Each bound is checked where untrusted input is parsed, before memory is allocated for it.
 */
#pragma once

#include "base/limit.h"

#define PROFILE_LIMITS(LIMIT)                                                                    \
	LIMIT(LABEL_NAME_MAX, 128, BYTES, "a label's name",                                      \
	      "the label is dropped, " SKIPPED "; in a URL: " BAD_DATA)                          \
	/* Fits an entry of a b-tree. */                                                         \
	LIMIT(LABEL_VALUE_MAX, 2048, BYTES, "a label's value",                                   \
	      "it is truncated at a character, " SKIPPED)                                        \
	LIMIT(LABELS_MAX, 64, COUNT, "labels of a series or of a sample", REJECTED)              \
	LIMIT(STACK_DEPTH_MAX, 1024, COUNT, "frames of a stack",                                 \
	      "the frames nearest the root are dropped, " SKIPPED)                               \
	LIMIT(NAME_MAX_BYTES, 16384, BYTES, "the name of a function or a file",                  \
	      "it is truncated at a character, " SKIPPED)                                        \
	LIMIT(TYPE_MAX, 256, BYTES, "the id of a profile type",                                  \
	      REJECTED "; in a selector: " BAD_DATA)                                             \
	LIMIT(STATUS_REASONS_MAX, 32, COUNT,                                                     \
	      "loss reasons in an AgentStatus, and truncation reasons",                          \
	      "the status is ignored, `decima_ingester_bad_status_total`; the batch is stored")  \
	LIMIT(STATUS_BYTES_MAX, 8192, BYTES, "an AgentStatus",                                   \
	      "the status is ignored, `decima_ingester_bad_status_total`; the batch is stored")  \
	LIMIT(VALUE_DEPTH_MAX, 8, COUNT, "nesting depth of an attribute's value",                \
	      "the label is dropped, " SKIPPED)                                                  \
	LIMIT(SELECTOR_MAX, 16384, BYTES, "a selector", BAD_DATA)                                \
	LIMIT(MATCHERS_MAX, 32, COUNT, "matchers of a selector", BAD_DATA)                       \
	/* Of one match of a regular expression: 10 ms at worst. */                              \
	LIMIT(REGEX_MATCH_MAX, 500000, COUNT, "steps of one match",                              \
	      "422 `execution` with a sentence, `decima_querier_errors_total`")                  \
	LIMIT(REGEX_DEPTH_MAX, 20000, COUNT, "backtracking points of one match",                 \
	      "422 `execution` with a sentence, `decima_querier_errors_total`")                  \
	LIMIT(REGEX_HEAP_MAX_KIB, 4096, COUNT, "KiB of heap for one match",                      \
	      "422 `execution` with a sentence, `decima_querier_errors_total`")                  \
	LIMIT(MESSAGE_MAX, 64 << 20, BYTES, "an OTLP message, decompressed", REJECTED)           \
	LIMIT(MESSAGE_TABLE_MAX, 1 << 22, COUNT,                                                 \
	      "entries of each table of a message's dictionary", REJECTED)                       \
	LIMIT(MESSAGE_SAMPLES_MAX, 1 << 22, COUNT, "samples of a message", REJECTED)             \
	LIMIT(MESSAGE_FRAMES_MAX, 1 << 24, COUNT, "frames of all stacks of a message", REJECTED) \
	LIMIT(MESSAGE_MEMORY_MAX, 512 << 20, BYTES, "memory to decode a message", REJECTED)      \
	/* Of POST /symbolize. A request beyond them is rejected; a response never exceeds them. \
	 */                                                                                      \
	LIMIT(SYMBOLIZE_BINARIES_MAX, 10000, COUNT, "build ids of a POST /symbolize request",    \
	      "422 `execution` with a sentence")                                                 \
	LIMIT(SYMBOLIZE_ADDRESSES_MAX, 100000, COUNT,                                            \
	      "addresses of all build ids of such a request", "422 `execution` with a sentence") \
	LIMIT(SYMBOLIZE_LINES_MAX, 1 << 20, COUNT, "lines of all addresses of its response",     \
	      "further addresses have no name, with the reason `too_large`")                     \
	LIMIT(SYMBOLIZE_BYTES_MAX, 64 << 20, BYTES, "the response",                              \
	      "further addresses have no name, with the reason `too_large`")                     \
	LIMIT(SYMBOLIZE_REQUEST_MEMORY_MAX, 16 << 20, BYTES,                                     \
	      "memory to unpack a request in protobuf", "422 `execution` with a sentence")       \
	LIMIT(SYMBOLIZE_RESPONSE_MEMORY_MAX, 512 << 20, BYTES,                                   \
	      "memory to unpack a response in protobuf",                                         \
	      "the addresses have no name, with the reason `no_response`")

PROFILE_LIMITS(LIMIT_CONSTANT)
