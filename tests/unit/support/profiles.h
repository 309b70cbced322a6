// SPDX-License-Identifier: Apache-2.0
/*
 * profiles - a small sample_set with one item of each kind, for tests of encoders and decoders.
 */
#pragma once

#include "profile/profile_type.h"
#include "profile/sample_set.h"

enum { PROFILES_PERIOD = 52631578 }; /* 19 Hz */
#define PROFILES_TIME UINT64_C(1790000000000)

static inline struct labels profiles_labels(struct arena *arena, size_t len,
					    const struct label *labels)
{
	struct label *items = arena_array(arena, struct label, len + 1);

	memcpy(items, labels, len * sizeof(*items));
	return labels_of(items, len);
}

static inline uint32_t profiles_stack(struct sample_set *set, const struct frame *frames,
				      size_t len)
{
	uint32_t indexes[16];

	for (size_t i = 0; i < len; i++)
		indexes[i] = sample_set_frame(set, &frames[i]);
	return sample_set_stack(set, indexes, len);
}

/* Native, kernel and interpreted frames, one inlined; three kinds of build ids. */
static inline void profiles_stacks(struct sample_set *set, uint32_t stacks[static 3])
{
	const struct frame native[] = {
		{ .type = STR("native"),
		  .build_id = STR("aabb01"),
		  .path = STR("/usr/bin/app"),
		  .address = 0x1234 },
		{ .type = STR("native"),
		  .build_id = STR("htlhash:00ff"),
		  .path = STR("/lib/libz.so"),
		  .address = 0x99 },
		{ .type = STR("kernel"),
		  .path = STR("[kernel.kallsyms]"),
		  .function = STR("do_syscall_64") },
	};
	const struct frame inlined[] = {
		{ .type = STR("native"),
		  .build_id = STR("go:xyz/1"),
		  .path = STR("/bin/g"),
		  .address = 0x10,
		  .function = STR("outer()"),
		  .system_name = STR("_Zouter"),
		  .file = STR("/src/a.c"),
		  .line = 3,
		  .start_line = 1 },
		{ .type = STR("native"),
		  .build_id = STR("go:xyz/1"),
		  .path = STR("/bin/g"),
		  .address = 0x10,
		  .function = STR("inner()"),
		  .file = STR("/src/b.c"),
		  .line = 7,
		  .inlined = true },
		{ .type = STR("native"),
		  .build_id = STR("go:xyz/1"),
		  .path = STR("/bin/g"),
		  .address = 0x20 },
	};
	const struct frame python[] = {
		{ .type = STR("cpython"),
		  .function = STR("main"),
		  .file = STR("m.py"),
		  .line = 12 },
	};

	stacks[0] = profiles_stack(set, native, ARRAY_LEN(native));
	stacks[1] = profiles_stack(set, inlined, ARRAY_LEN(inlined));
	stacks[2] = profiles_stack(set, python, ARRAY_LEN(python));
}

static inline void profiles_fill(struct sample_set *set, struct arena *arena)
{
	const struct label app[] = { { STR("node"), STR("n1") },
				     { STR("comm"), STR("app") },
				     { STR("exe"), STR("/usr/bin/app") },
				     { STR("rack_row"), STR("7") },
				     { STR("service_name"), STR("shop") } };
	const struct label other[] = { { STR("node"), STR("n1") },
				       { STR("service_name"), STR("other") } };
	const struct label thread[] = { { STR("pid"), STR("41") },
					{ STR("thread_id"), STR("42") },
					{ STR("thread_name"), STR("work er") },
					{ STR("cpu"), STR("0") } };
	const struct label span[] = {
		{ STR("pid"), STR("41") },
		{ STR("trace_id"), STR("000102030405060708090a0b0c0d0e0f") },
		{ STR("span_id"), STR("0001020304050607") },
	};
	uint32_t stacks[3];
	str cpu = STR(PROFILE_TYPE_CPU), heap = STR("memory:inuse_space:bytes:space:bytes");

	profiles_stacks(set, stacks);

	uint32_t a = sample_set_series(set, cpu, profiles_labels(arena, 5, app), PROFILES_PERIOD);
	uint32_t b = sample_set_series(set, cpu, profiles_labels(arena, 2, other), PROFILES_PERIOD);
	uint32_t h = sample_set_series(set, heap, profiles_labels(arena, 5, app), 524288);
	uint32_t t = sample_set_labels(set, profiles_labels(arena, 4, thread));
	uint32_t s = sample_set_labels(set, profiles_labels(arena, 3, span));
	const struct sample samples[] = {
		{ a, stacks[0], t, PROFILES_PERIOD, PROFILES_TIME },
		{ a, stacks[0], t, PROFILES_PERIOD, PROFILES_TIME + 53 },
		{ b, stacks[2], 0, PROFILES_PERIOD, PROFILES_TIME + 1 },
		{ a, stacks[1], s, PROFILES_PERIOD, PROFILES_TIME + 2 },
		{ a, stacks[1], t, 3 * (int64_t)PROFILES_PERIOD, PROFILES_TIME + 3 },
		{ a, stacks[2], t, 17, PROFILES_TIME + 4 },
		{ h, stacks[1], 0, 4096, PROFILES_TIME + 5 },
		{ a, 0, t, PROFILES_PERIOD, PROFILES_TIME + 6 },
	};

	for (size_t i = 0; i < ARRAY_LEN(samples); i++)
		sample_set_add(set, samples[i]);
}
