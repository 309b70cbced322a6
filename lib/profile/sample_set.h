// SPDX-License-Identifier: Apache-2.0
/*
 * sample_set - samples and all they speak of: the one shape of profile data in memory.
 *
 * The decoder of the wire makes one of a message, the agent of ten seconds, the store of a row, the
 * querier of an answer. Everything is said once (interned) and spoken of by index:
 *
 *     samples[i] ──► series[]      profile type and labels, indexed in the store
 *          ├───────► label_sets[]  labels of the sample itself (pid, thread, ...); 0 is none
 *          └───────► stacks[] ───► frames[]  root first; 0 is the empty stack
 *
 * Values are in the unit of the series' type (CPU: nanoseconds), times are Unix milliseconds.
 * Interning borrows strings: what is added must live as long as the set, or be copied by
 * sample_set_merge(), which owns all it takes. Single-threaded; grows in the arena given to
 * sample_set_init() and goes with it.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "profile/labels.h"

/*
 * Native code: build_id, path and address say where; function is empty until a symbolizer says it.
 * Kernel, interpreted and JIT code: function is known, by who took the sample.
 */
struct frame {
	str type;     /* OTLP's profile.frame.type: native, kernel, cpython, jvm, ... */
	str build_id; /* GNU: hex text. Others: "go:..." or "htlhash:..." in front. May be empty */
	str path;     /* of the executable, or "[kernel.kallsyms]", "[vdso]", a module's "[name]" */
	uint64_t address; /* native: virtual address in the ELF file; 0 where there is none */
	str function, system_name, file;
	uint32_t line, start_line;
	bool inlined; /* into the frame before it (the next one towards the root) */
};

/* Root first. */
struct stack {
	const uint32_t *frames;
	size_t len;
};

struct series {
	uint64_t id; /* XXH3 of type and labels: series_id() */
	str type;    /* five parts, as profile_type.h */
	struct labels labels;
	uint64_t period; /* what one tick counts, in the type's unit; 0: not said */
};

struct sample {
	uint32_t series, stack, labels; /* indexes */
	int64_t value;
	uint64_t time_ms;
};

struct sample_index; /* open addressing from hash to index */

struct sample_set {
	struct arena *arena;
	VEC(struct frame) frames;
	VEC(struct stack) stacks;
	VEC(struct labels) label_sets;
	VEC(struct series) series;
	VEC(struct sample) samples;
	/* private */
	VEC(hash128) frame_ids;
	VEC(hash128) stack_ids;
	VEC(hash128) label_set_ids;
	VEC(hash128) series_ids;
	struct buf scratch; /* input of the hash that is being made */
	struct sample_index *frame_index, *stack_index, *label_set_index, *series_index;
};

enum { SERIES_BUCKETS = 64 };

uint64_t series_id(str type, struct labels labels, struct arena *scratch);

/* 0 <= bucket < SERIES_BUCKETS: the hash of its service_name. Stored rows are cut by it. */
unsigned int series_bucket(struct labels labels);

void sample_set_init(struct sample_set *set, struct arena *arena);

/* Each returns the index of an equal one that is there, or of the new one. */
uint32_t sample_set_frame(struct sample_set *set, const struct frame *frame);
uint32_t sample_set_stack(struct sample_set *set, const uint32_t *frames, size_t len);
uint32_t sample_set_labels(struct sample_set *set, struct labels labels);
uint32_t sample_set_series(struct sample_set *set, str type, struct labels labels, uint64_t period);

void sample_set_add(struct sample_set *set, struct sample sample);

/* Room for so many frames, stacks and samples in all: who knows it saves the growing. */
void sample_set_reserve(struct sample_set *set, size_t frames, size_t stacks, size_t samples);

/* 128-bit XXH3 of a stack's frames, for merging; never stored. */
hash128 sample_set_stack_id(const struct sample_set *set, uint32_t stack);

/* Which samples sample_set_merge() takes, and what it makes of their indexes and times. */
struct sample_filter {
	/* False: leave the sample out. May change the sample's time, value, labels. NULL: all. */
	bool (*keep)(void *self, const struct sample_set *from, struct sample *sample);
	void *self;
};

/*
 * Add the samples of `from` that the filter keeps, with the series, stacks and labels they use.
 * Everything is copied into the arena of `into`; `from` may go. NULL filter: all.
 */
void sample_set_merge(struct sample_set *into, const struct sample_set *from,
		      const struct sample_filter *filter);

/*
 * The same by hand, for who folds samples into its own sums: what stacks of `from` are in `into`.
 * Each stack and frame is looked up and copied once.
 *
 *     struct sample_merge merge = { 0 };
 *     sample_merge_begin(&merge, into, from);
 *     for (...)
 *             add(sample_merge_stack(&merge, sample->stack), sample->value);
 *     sample_merge_end(&merge);
 */
struct sample_merge {
	/* private */
	struct sample_set *into;
	const struct sample_set *from;
	struct arena scratch;
	uint32_t *series, *stacks, *labels, *frames; /* index + 1; 0: not looked up yet */
};

void sample_merge_begin(struct sample_merge *merge, struct sample_set *into,
			const struct sample_set *from);
uint32_t sample_merge_stack(struct sample_merge *merge, uint32_t index);
void sample_merge_end(struct sample_merge *merge);
