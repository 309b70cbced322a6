// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_decoder - what the parts of the OTLP reader share: the message's tables and what became of
 * their entries.
 *
 * A table is indexed once as slices of the message; an entry is decoded when something first speaks
 * of it, and memo[] remembers what it became (index + 1). So the work for a sample is look-ups, and
 * nothing is done for what nobody uses. Whatever fails, fails the message: otlp_reject() says why.
 */
#pragma once

#include "profile/limits.h"
#include "profile/otlp_field.h"
#include "profile/otlp_reader.h"
#include "profile/otlp_table.h"

struct otlp_slices {
	str *items;
	size_t len;
};

/* An attribute as text. `dropped`: it cannot be a label. `label`: what a sample's is called. */
struct otlp_attribute {
	str name, value, label;
	bool dropped;
};

struct otlp_mapping {
	str path, build_id;
};

struct otlp_range {
	uint32_t first, len;
};

/* Indexes of a repeated field, packed or not: one after another. */
struct otlp_packed {
	str bytes;       /* varints (or fixed64s) without tags */
	struct buf more; /* where they came in several pieces */
};

struct otlp_location {
	struct otlp_mapping mapping;
	struct otlp_packed attributes;
	uint64_t address;
	str lines[STACK_DEPTH_MAX]; /* innermost first */
	size_t line_count;
};

/* Frames of a stack while it is put together, leaf first, filled from the end. */
struct otlp_stack_frames {
	uint32_t frames[STACK_DEPTH_MAX];
	size_t first; /* frames[first..] are there, root first */
	bool is_truncated;
};

/* Kept from one to the next: as variables of a function they would be zeroed each time. */
struct otlp_stack_scratch {
	struct otlp_location location;
	struct otlp_stack_frames stack;
};

struct otlp_decoder {
	const struct otlp_options *options;
	struct sample_set *set;
	struct otlp_result *result;
	struct err *err;
	struct arena scratch; /* dies with the decoder; what lives goes into the set's arena */
	size_t memory_before;
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

/* Refuse the message. Always false. */
bool otlp_reject(struct otlp_decoder *decoder, enum otlp_reason reason, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
#ifdef __clang_analyzer__ /* as for err_set() */
#define otlp_reject(...) err_false(otlp_reject(__VA_ARGS__))
#endif

/* After a loop over fields: false where it did not end at the end. */
bool otlp_end_check(struct otlp_decoder *decoder, const struct reader *r,
		    const struct field *field);

/* False: the message takes more memory than one may. */
bool otlp_memory_check(struct otlp_decoder *decoder);

void otlp_packed_add(struct otlp_packed *packed, const struct field *field);
