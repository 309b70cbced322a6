// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_bench - the speed of otlp_read(), compared with protobuf-c unpacking the same bytes.
 *
 * Two messages: one of a busy machine (many samples, few stacks), one where most samples have a new
 * stack. The two decoders alternate, so that other load on the machine affects both; the output is
 * the median CPU time. protobuf-c only unpacks (into an arena): it checks no index, looks up no
 * name and interns nothing.
 */
#include "base/clock.h"
#include "profile/profile_type.h"
#include "wire/otlp_reader.h"
#include "wire/otlp_writer.h"
#include "wire/protobuf_internal.h"

#include <inttypes.h>
#include <profiles.pb-c.h>
#include <stdio.h>

enum { ROUNDS = 41, PERIOD = 52631578, DEPTH = 15 };

struct shape {
	const char *name;
	size_t samples, stacks, frames, threads, processes;
};

static const struct shape shapes[] = {
	{ "busy", 20000, 3000, 4000, 200, 20 },
	{ "new stacks", 600, 400, 5900, 300, 40 },
};

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A random number below `limit`. */
static uint32_t below(uint64_t *state, size_t limit)
{
	return limit ? (uint32_t)(next(state) % limit) : 0;
}

static void frames_fill(struct sample_set *set, const struct shape *shape, uint64_t *state)
{
	for (size_t i = 0; i < shape->frames; i++) {
		struct frame frame = { .type = STR("native"), .address = next(state) >> 30 };
		uint64_t file = next(state) % 30;

		frame.path =
			str_format(set->arena, "/usr/lib/x86_64-linux-gnu/lib%" PRIu64 ".so", file);
		frame.build_id = str_format(set->arena, "%040" PRIx64, file * 7919);
		if (i % 4 == 0) { /* kernel and interpreted code has function names */
			frame.type = STR("kernel");
			frame.path = STR("[kernel.kallsyms]");
			frame.build_id = (str){ 0 };
			frame.function = str_format(set->arena, "__some_function_%zu", i);
		}
		sample_set_frame(set, &frame);
	}
}

static void labels_fill(struct sample_set *set, const struct shape *shape)
{
	for (size_t i = 0; i < shape->threads; i++) {
		struct label *items = arena_array(set->arena, struct label, 3);

		items[0] =
			(struct label){ STR("pid"), str_format(set->arena, "%zu", 1000 + i / 4) };
		items[1] =
			(struct label){ STR("thread_id"), str_format(set->arena, "%zu", 1000 + i) };
		items[2] = (struct label){ STR("thread_name"),
					   str_format(set->arena, "worker-%zu", i % 16) };
		sample_set_labels(set, labels_of(items, 3));
	}
	for (size_t i = 0; i < shape->processes; i++) {
		struct label *items = arena_array(set->arena, struct label, 4);

		items[0] = (struct label){ STR("node"), STR("node-17.example") };
		items[1] = (struct label){ STR("comm"), str_format(set->arena, "comm-%zu", i) };
		items[2] = (struct label){ STR("exe"), str_format(set->arena, "/usr/bin/c%zu", i) };
		items[3] = (struct label){ STR("unit"), str_format(set->arena, "c%zu.service", i) };
		sample_set_series(set, STR(PROFILE_TYPE_CPU), labels_of(items, 4), PERIOD);
	}
}

static str message_make(const struct shape *shape, struct arena *arena)
{
	uint64_t state = 88172645463325252;
	struct sample_set set;
	uint32_t frames[2 * DEPTH];

	sample_set_init(&set, arena);
	frames_fill(&set, shape, &state);
	labels_fill(&set, shape);
	for (size_t i = 0; i < shape->stacks; i++) {
		size_t len = DEPTH / 2 + next(&state) % DEPTH;

		for (size_t j = 0; j < len; j++)
			frames[j] = below(&state, set.frames.len);
		sample_set_stack(&set, frames, len);
	}
	for (size_t i = 0; i < shape->samples; i++)
		sample_set_add(&set, (struct sample){
					     .series = below(&state, shape->processes),
					     .stack = 1 + below(&state, shape->stacks),
					     .labels = 1 + below(&state, shape->threads),
					     .value = PERIOD,
					     .time_ms = UINT64_C(1790000000000) + i,
				     });
	return otlp_write(&set, 0, set.samples.len, arena);
}

static uint64_t read_once(str message, struct arena *arena)
{
	static const struct otlp_options options = { 0, UINT64_MAX };
	uint64_t start_ns = clock_cpu_ns();
	struct otlp_result result;
	struct sample_set set;
	struct err err;

	sample_set_init(&set, arena);
	if (!otlp_read(message, &options, &set, &result, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	return clock_cpu_ns() - start_ns;
}

static uint64_t unpack_once(str message, struct arena *arena)
{
	ProtobufCAllocator allocator = protobuf_allocator(arena);
	uint64_t start_ns = clock_cpu_ns();

	if (!otlp__profiles_data__unpack(&allocator, message.len, (const uint8_t *)message.ptr))
		exit(1);
	return clock_cpu_ns() - start_ns;
}

static int ns_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void report(const char *reader, const struct shape *shape, str message, uint64_t *times)
{
	qsort(times, ROUNDS, sizeof(*times), ns_compare);

	uint64_t median_ns = times[ROUNDS / 2];
	double seconds = (double)median_ns / 1e9;

	printf("%-12s %-10s %10.0f samples/s %8.0f MB/s %8.2f ms\n", shape->name, reader,
	       (double)shape->samples / seconds, (double)message.len / seconds / 1e6,
	       seconds * 1e3);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		AUTO_ARENA arena = { 0 }, scratch = { 0 };
		str message = message_make(&shapes[i], &arena);
		uint64_t ours[ROUNDS], theirs[ROUNDS];

		printf("%s: %zu samples, %zu stacks, %zu bytes (%.1f per sample)\n", shapes[i].name,
		       shapes[i].samples, shapes[i].stacks, message.len,
		       (double)message.len / (double)shapes[i].samples);
		for (size_t round = 0; round < ROUNDS; round++) {
			ours[round] = read_once(message, &scratch);
			arena_reset(&scratch);
			theirs[round] = unpack_once(message, &scratch);
			arena_reset(&scratch);
		}
		report("otlp_read", &shapes[i], message, ours);
		report("protobuf-c", &shapes[i], message, theirs);
	}
	return 0;
}
