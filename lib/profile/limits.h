// SPDX-License-Identifier: Apache-2.0
/*
 * limits - the bounds of the domain: what one label, stack, message may be.
 *
 * Each is checked where foreign bytes enter, before anything is allocated for them.
 */
#pragma once

enum {
	LABEL_NAME_MAX = 128, /* bytes; longer: the label is dropped, counted */
	LABEL_VALUE_MAX =
		2048,    /* bytes; longer: cut at a character, counted. Fits a b-tree entry */
	LABELS_MAX = 64, /* labels of a series or a sample; more: the message is refused */
	STACK_DEPTH_MAX = 1024, /* frames; deeper: the root side is cut, counted as too_deep */
	NAME_MAX_BYTES = 16384, /* bytes of a function's or a file's name; longer: cut, counted */
	TYPE_MAX = 256,         /* bytes of a profile type's id */
};

enum {
	STATUS_REASONS_MAX = 32, /* reasons of a loss, and of a cut, in an AgentStatus */
	STATUS_BYTES_MAX = 8192, /* of an AgentStatus; larger: it is not read, counted */
	VALUE_DEPTH_MAX = 8, /* of an attribute's value; deeper: the label is dropped, counted */
};

/* Of a selector; more is refused with a sentence. */
enum {
	SELECTOR_MAX = 16384, /* bytes */
	MATCHERS_MAX = 32,
	/* Steps and backtracking points of one match, and KiB for the latter: 10 ms at worst. */
	REGEX_MATCH_MAX = 500000,
	REGEX_DEPTH_MAX = 20000,
	REGEX_HEAP_MAX_KIB = 4096,
};

enum {
	MESSAGE_MAX = 64 << 20,         /* bytes of one message, decompressed */
	MESSAGE_TABLE_MAX = 1 << 22,    /* entries of any one table of a dictionary */
	MESSAGE_SAMPLES_MAX = 1 << 22,  /* samples of one message */
	MESSAGE_FRAMES_MAX = 1 << 24,   /* frames of all stacks of one message */
	MESSAGE_MEMORY_MAX = 512 << 20, /* bytes that decoding one message may take */
};

/* Of POST /symbolize: a request with more is refused, an answer never has more. */
enum {
	SYMBOLIZE_BINARIES_MAX = 10000,   /* build ids */
	SYMBOLIZE_ADDRESSES_MAX = 100000, /* of all of them */
	SYMBOLIZE_LINES_MAX = 1 << 20,    /* of all addresses */
	SYMBOLIZE_BYTES_MAX = 64 << 20,   /* of an answer */
};
