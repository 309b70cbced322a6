// SPDX-License-Identifier: Apache-2.0
/*
 * limits - the upper bounds of labels, stacks, selectors and messages.
 *
 * Each bound is checked where untrusted input is parsed, before memory is allocated for it.
 */
#pragma once

enum {
	LABEL_NAME_MAX = 128, /* bytes; longer: the label is dropped and counted */
	/* Bytes; longer: truncated at a character boundary and counted. Fits a b-tree entry. */
	LABEL_VALUE_MAX = 2048,
	LABELS_MAX = 64, /* labels of a series or a sample; more: the message is rejected */
	/* Frames of a stack; more: those nearest the root are dropped, counted as too_deep. */
	STACK_DEPTH_MAX = 1024,
	/* Bytes of the name of a function or a file; longer: truncated and counted. */
	NAME_MAX_BYTES = 16384,
	TYPE_MAX = 256, /* bytes of a profile type's id */
};

enum {
	STATUS_REASONS_MAX = 32, /* loss reasons in an AgentStatus, and truncation reasons */
	STATUS_BYTES_MAX = 8192, /* bytes of an AgentStatus; larger: ignored and counted */
	VALUE_DEPTH_MAX = 8,     /* nesting of an attribute's value; deeper: the label is dropped */
};

/* Of a selector. A longer selector is rejected; a match that exceeds its bounds fails the query. */
enum {
	SELECTOR_MAX = 16384, /* bytes */
	MATCHERS_MAX = 32,
	/* Of one regular expression match: steps, backtracking depth, heap. 10 ms at worst. */
	REGEX_MATCH_MAX = 500000,
	REGEX_DEPTH_MAX = 20000,
	REGEX_HEAP_MAX_KIB = 4096,
};

enum {
	MESSAGE_MAX = 64 << 20,         /* bytes of one message, decompressed */
	MESSAGE_TABLE_MAX = 1 << 22,    /* entries of each table of a dictionary */
	MESSAGE_SAMPLES_MAX = 1 << 22,  /* samples of one message */
	MESSAGE_FRAMES_MAX = 1 << 24,   /* frames of all stacks of one message */
	MESSAGE_MEMORY_MAX = 512 << 20, /* bytes of memory to decode one message */
};

/* Of POST /symbolize. A request beyond them is rejected; a response never exceeds them. */
enum {
	SYMBOLIZE_BINARIES_MAX = 10000,            /* build ids */
	SYMBOLIZE_ADDRESSES_MAX = 100000,          /* addresses of all build ids together */
	SYMBOLIZE_LINES_MAX = 1 << 20,             /* lines of all addresses together */
	SYMBOLIZE_BYTES_MAX = 64 << 20,            /* bytes of a response */
	SYMBOLIZE_REQUEST_MEMORY_MAX = 16 << 20,   /* bytes of memory to unpack a request */
	SYMBOLIZE_RESPONSE_MEMORY_MAX = 512 << 20, /* bytes of memory to unpack a response */
};
