// SPDX-License-Identifier: Apache-2.0
/*
 * sample_set - profile data in memory: samples with their series, labels, stacks and frames.
 *
 * The OTLP reader makes a set from a message, the agent from ten seconds, the store from a row, the
 * querier from a query's result. Series, label sets, stacks and frames are interned: each is stored
 * once and referenced by its index.
 *
 *     samples[i] ──► series[]      profile type and labels, indexed in the store
 *          ├───────► label_sets[]  labels of the sample (pid, thread, ...); 0 is the empty set
 *          └───────► stacks[] ───► frames[]  root first; 0 is the empty stack
 *
 * Values are in the unit of the series' type (CPU: nanoseconds), times are Unix milliseconds.
 * Interning borrows strings: they must live as long as the set. Merging copies them. All memory is
 * in the arena given to sample_set_init(), so a set is not closed. No function fails. One thread.
 */
#pragma once

#include "base/hash.h"
#include "base/index.h"
#include "base/vec.h"
#include "profile/labels.h"

/*
 * Native code has build_id, path and address; function is empty until the frame is symbolized.
 * Kernel, interpreted and JIT code has its function from the profiler.
 */
struct frame {
	str type;     /* OTLP's profile.frame.type: native, kernel, cpython, jvm, ... */
	str build_id; /* GNU: hex text. Others have the prefix "go:" or "htlhash:". May be empty */
	str path;     /* of the executable, or "[kernel.kallsyms]", "[vdso]", a module's "[name]" */
	uint64_t address; /* native: virtual address in the ELF file; 0: none */
	str function, system_name, file;
	uint32_t line, start_line;
	bool inlined; /* into the frame before it, its caller */
};

/*
 * The type of a frame that stands for missing frames: the walk ended there, most often before the
 * root. Its function is "[truncated: REASON]", with a reason of docs/losses.md; it has no other
 * field. The type has the name that OpenTelemetry's eBPF profiler uses for such a frame.
 */
#define FRAME_TYPE_TRUNCATED "abort-marker"

enum { FRAME_TRUNCATED_MAX = 64 }; /* bytes of its function */

/* Root first. */
struct stack {
	const uint32_t *frames;
	size_t len;
};

struct series {
	uint64_t id; /* XXH3 of type and labels: series_id() */
	str type;    /* five parts, as profile_type.h */
	struct labels labels;
	uint64_t period; /* the value of one tick, in the type's unit; 0: unknown */
};

struct sample {
	uint32_t series, stack, labels; /* indexes */
	int64_t value;
	uint64_t time_ms;
};

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
	struct buf scratch; /* input of the hash being computed */
	/* index + 1 of an item, by its id */
	INDEX(uint32_t) frame_index, stack_index, label_set_index, series_index;
};

enum { SERIES_BUCKETS = 64 };

/* The id of a series, equal on all hosts. `scratch` holds the input of the hash afterwards. */
uint64_t series_id(str type, struct labels labels, struct arena *scratch);

/* 0 <= bucket < SERIES_BUCKETS, by the hash of service_name. Each stored row has one bucket. */
unsigned int series_bucket(struct labels labels);

void sample_set_init(struct sample_set *set, struct arena *arena);

/* Intern an item: return the index of the equal item in the set, or add it. */
uint32_t sample_set_frame(struct sample_set *set, const struct frame *frame);
uint32_t sample_set_stack(struct sample_set *set, const uint32_t *frames, size_t len);
uint32_t sample_set_labels(struct sample_set *set, struct labels labels);
uint32_t sample_set_series(struct sample_set *set, str type, struct labels labels, uint64_t period);

void sample_set_add(struct sample_set *set, struct sample sample);

/* Reserve memory for these total numbers of items, if the caller knows them. */
void sample_set_reserve(struct sample_set *set, size_t frames, size_t stacks, size_t samples);

/* 128-bit XXH3 of a stack's frames, to compare stacks of different sets; never stored. */
hash128 sample_set_stack_id(const struct sample_set *set, uint32_t stack);

/* Selects the samples that sample_set_merge() copies, and may change them. */
struct sample_filter {
	/* False: skip the sample. May change the sample's time, value, labels. NULL: keep all. */
	bool (*keep)(void *self, const struct sample_set *from, struct sample *sample);
	void *self;
};

/*
 * Add the samples of `from` that the filter keeps, with the series, stacks and labels that they
 * use. Everything is copied into the arena of `into`; `from` may be freed. NULL filter: all
 * samples.
 */
void sample_set_merge(struct sample_set *into, const struct sample_set *from,
		      const struct sample_filter *filter);

/*
 * Merge only the stacks, for callers that add up samples themselves: sample_merge_stack() returns
 * the index in `into` of a stack of `from`. Each stack and frame is looked up and copied once.
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
