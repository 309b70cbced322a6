// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_decoder - the state of one otlp_read(): the message's tables and their decoded entries.
 *
 * Each table is indexed once as slices of the message. An entry is decoded when it is first
 * referenced, and memo[] stores the index of the result + 1. So a sample costs only look-ups, and
 * unused entries cost nothing. Any error rejects the whole message: otlp_reject().
 */
#pragma once

#include "profile/limits.h"
#include "wire/otlp_field_internal.h"
#include "wire/otlp_reader.h"
#include "wire/otlp_table_internal.h"

struct otlp_slices {
	str *items;
	size_t len;
};

/* A decoded attribute: the value as text, and the label name of a sample's attribute. */
struct otlp_attribute {
	str name, value, label;
	bool dropped; /* it cannot be a label */
};

struct otlp_mapping {
	str path, build_id;
};

struct otlp_range {
	uint32_t first, len;
};

/* The values of a repeated numeric field, concatenated, packed or not. */
struct otlp_packed {
	str bytes;       /* varints (or fixed64s) without tags */
	struct buf more; /* memory of `bytes` if the field came in several pieces */
};

struct otlp_location {
	struct otlp_mapping mapping;
	struct otlp_packed attributes;
	uint64_t address;
	str lines[STACK_DEPTH_MAX]; /* innermost first */
	size_t line_count;
};

/* A stack being assembled: the wire has the leaf first, so it is filled from the end. */
struct otlp_stack_frames {
	uint32_t frames[STACK_DEPTH_MAX];
	size_t first; /* frames[first..] are filled, root first */
	bool is_truncated;
};

/* Reused for each stack: as local variables they would be zeroed each time. */
struct otlp_stack_scratch {
	struct otlp_location location;
	struct otlp_stack_frames stack;
};

struct otlp_decoder {
	const struct otlp_options *options;
	struct sample_set *set;
	struct otlp_result *result;
	struct err *err;
	struct arena scratch; /* freed with the decoder; results are in the set's arena */
	size_t memory_before; /* of the set's arena */
	bool has_dictionary;
	struct otlp_slices tables[OTLP_TABLE_COUNT];
	uint32_t *memo[OTLP_TABLE_COUNT];
	VEC(struct otlp_attribute) attributes;
	VEC(struct otlp_mapping) mappings;
	VEC(struct otlp_range) locations; /* into location_frames, root side first */
	VEC(uint32_t) location_frames;
	uint64_t stack_frames; /* of all stacks */
	struct otlp_stack_scratch *stack_scratch;
};

/* Reject the message. Always false. */
bool otlp_reject(struct otlp_decoder *decoder, enum otlp_reason reason, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
#ifdef __clang_analyzer__ /* as for err_set() */
#define otlp_reject(...) err_false(otlp_reject(__VA_ARGS__))
#endif

/* Call it after a loop over fields. False: the loop ended before the end of the bytes. */
bool otlp_end_check(struct otlp_decoder *decoder, const struct reader *r,
		    const struct field *field);

/* False: decoding the message uses more than MESSAGE_MEMORY_MAX. */
bool otlp_memory_check(struct otlp_decoder *decoder);

/* Append the values of one field. */
void otlp_packed_add(struct otlp_packed *packed, const struct field *field);
