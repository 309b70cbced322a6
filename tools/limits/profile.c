// SPDX-License-Identifier: Apache-2.0
/* Bounds of lib/profile/limits.h. */
#include "limits/limit.h"
#include "profile/limits.h"

#define REJECTED \
	"the message is rejected, `decima_ingester_rejected_messages_total{reason=\"limit\"}`"
#define SKIPPED "`decima_ingester_skipped_total`"

static const struct limit rows[] = {
	LIMIT(LABEL_NAME_MAX, BYTES, "a label's name",
	      "the label is dropped, " SKIPPED "; in a URL: " BAD_DATA),
	LIMIT(LABEL_VALUE_MAX, BYTES, "a label's value",
	      "it is truncated at a character, " SKIPPED),
	LIMIT(LABELS_MAX, COUNT, "labels of a series or of a sample", REJECTED),
	LIMIT(STACK_DEPTH_MAX, COUNT, "frames of a stack",
	      "the frames nearest the root are dropped, " SKIPPED),
	LIMIT(NAME_MAX_BYTES, BYTES, "the name of a function or a file",
	      "it is truncated at a character, " SKIPPED),
	LIMIT(TYPE_MAX, BYTES, "the id of a profile type", REJECTED "; in a selector: " BAD_DATA),
	LIMIT(STATUS_REASONS_MAX, COUNT, "loss reasons in an AgentStatus, and truncation reasons",
	      "the status is ignored, `decima_ingester_bad_status_total`; the batch is stored"),
	LIMIT(STATUS_BYTES_MAX, BYTES, "an AgentStatus",
	      "the status is ignored, `decima_ingester_bad_status_total`; the batch is stored"),
	LIMIT(VALUE_DEPTH_MAX, COUNT, "nesting depth of an attribute's value",
	      "the label is dropped, " SKIPPED),
	LIMIT(SELECTOR_MAX, BYTES, "a selector", BAD_DATA),
	LIMIT(MATCHERS_MAX, COUNT, "matchers of a selector", BAD_DATA),
	LIMIT(REGEX_MATCH_MAX, COUNT, "steps of one match",
	      "422 `execution` with a sentence, `decima_querier_errors_total`"),
	LIMIT(REGEX_DEPTH_MAX, COUNT, "backtracking points of one match",
	      "422 `execution` with a sentence, `decima_querier_errors_total`"),
	LIMIT(REGEX_HEAP_MAX_KIB, COUNT, "KiB of heap for one match",
	      "422 `execution` with a sentence, `decima_querier_errors_total`"),
	LIMIT(MESSAGE_MAX, BYTES, "an OTLP message, decompressed", REJECTED),
	LIMIT(MESSAGE_TABLE_MAX, COUNT, "entries of each table of a message's dictionary",
	      REJECTED),
	LIMIT(MESSAGE_SAMPLES_MAX, COUNT, "samples of a message", REJECTED),
	LIMIT(MESSAGE_FRAMES_MAX, COUNT, "frames of all stacks of a message", REJECTED),
	LIMIT(MESSAGE_MEMORY_MAX, BYTES, "memory to decode a message", REJECTED),
	LIMIT(SYMBOLIZE_BINARIES_MAX, COUNT, "build ids of a POST /symbolize request",
	      "422 `execution` with a sentence"),
	LIMIT(SYMBOLIZE_ADDRESSES_MAX, COUNT, "addresses of all build ids of such a request",
	      "422 `execution` with a sentence"),
	LIMIT(SYMBOLIZE_LINES_MAX, COUNT, "lines of all addresses of its response",
	      "further addresses have no name, with the reason `too_large`"),
	LIMIT(SYMBOLIZE_BYTES_MAX, BYTES, "the response",
	      "further addresses have no name, with the reason `too_large`"),
	LIMIT(SYMBOLIZE_REQUEST_MEMORY_MAX, BYTES, "memory to unpack a request in protobuf",
	      "422 `execution` with a sentence"),
	LIMIT(SYMBOLIZE_RESPONSE_MEMORY_MAX, BYTES, "memory to unpack a response in protobuf",
	      "the addresses have no name, with the reason `no_response`"),
};

const struct limit_table profile_limits = TABLE("lib/profile/limits.h", rows);
