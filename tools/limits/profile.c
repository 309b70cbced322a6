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

const struct limit_table profile_limits = TABLE("lib/profile/limits.h", rows);
