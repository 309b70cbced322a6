// SPDX-License-Identifier: Apache-2.0
/*
 * symbolize_bench - measures symbolization of a query.
 *
 * The merge has 100,000 addresses in 200 binaries, as ten minutes of a hundred hosts, with one to
 * four lines for each address. Prints medians of CPU time: of the lookup with an empty cache
 * (request and response pass over the wire, without the work of the symbolizer), of encoding and
 * decoding alone, of the lookup with a full cache, and of symbolizing the merge by function (flame
 * graph, table, collapsed) and by address (pprof).
 *
 *     symbolize_bench [STACKS]
 */
#include "base/clock.h"
#include "base/log.h"
#include "profile/profile_type.h"
#include "querier/symbolize/symbol_lookup.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROUNDS = 15, ADDRESSES = 100000, BINARIES = 200, DEPTH = 24, FUNCTIONS = 20000, ROW = 2000 };

static const struct group_by ungrouped;

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static struct symbolized_line line_of(uint64_t draw, struct arena *arena)
{
	uint64_t number = draw % FUNCTIONS;

	return (struct symbolized_line){
		.function = str_format(arena, "some::space::function_%" PRIu64 "(int, char const*)",
				       number),
		.system_name =
			str_format(arena, "_ZN4some5space8function_%" PRIu64 "EiPKc", number),
		.file = str_format(arena, "/usr/src/package-1.2/source/file_%" PRIu64 ".cc",
				   number / 20),
		.line = (uint32_t)(draw >> 40),
		.start_line = (uint32_t)number,
	};
}

/* Five addresses of a binary are in one function, like those of a loop. */
static struct symbolize_response respond(const struct symbolize_request *request,
					 struct arena *arena)
{
	struct symbolized_binary *binaries =
		arena_array(arena, struct symbolized_binary, request->binary_count);

	for (size_t i = 0; i < request->binary_count; i++) {
		const struct symbolize_binary *requested = &request->binaries[i];
		struct symbolized_location *locations =
			arena_array(arena, struct symbolized_location, requested->address_count);

		for (size_t j = 0; j < requested->address_count; j++) {
			uint64_t function = requested->addresses[j] / 16 / 5 * BINARIES + i;
			size_t count = 1 + function % 4;
			struct symbolized_line *lines =
				arena_array(arena, struct symbolized_line, count);

			for (size_t k = 0; k < count; k++)
				lines[k] = line_of(function + k * 7, arena);
			locations[j] = (struct symbolized_location){ lines, count, NAME_KNOWN };
		}
		binaries[i] = (struct symbolized_binary){ 1, NAME_KNOWN, locations,
							  requested->address_count };
	}
	return (struct symbolize_response){ binaries, request->binary_count };
}

/* CPU time of the symbolizer's side, and of the wire on the querier's side. */
struct source_times {
	uint64_t symbolizer_ns, wire_ns;
	size_t response_bytes, decoded_bytes;
};

static bool query(void *self, const struct symbolize_request *request,
		  const struct store_bounds *bounds, struct arena *arena,
		  struct symbolize_response *ret_response, struct err *err)
{
	struct source_times *times = self;
	uint64_t began_ns = clock_cpu_ns(), sent_ns, answered_ns;
	str bytes = symbolize_request_write(request, arena);
	struct symbolize_request received;
	struct symbolize_response response;
	AUTO_ARENA symbolizer = { 0 };
	size_t before;

	(void)bounds;
	sent_ns = clock_cpu_ns();
	if (!symbolize_request_read(bytes, &received, &symbolizer, err))
		return false;
	response = respond(&received, &symbolizer);
	bytes = symbolize_response_write(&response, arena);
	before = arena->size;
	answered_ns = clock_cpu_ns();
	if (!symbolize_response_read(bytes, ret_response, arena, err))
		return false;
	times->symbolizer_ns += answered_ns - sent_ns;
	times->wire_ns += sent_ns - began_ns + clock_cpu_ns() - answered_ns;
	times->response_bytes += bytes.len;
	times->decoded_bytes += arena->size - before;
	return true;
}

/* Each function calls one of a few, from one of two places. */
static void draw_stack(uint32_t *frames, uint64_t *state)
{
	uint64_t at = 0;

	for (size_t i = 0; i < DEPTH; i++) {
		at = (at * 31 + next(state) % (i % 4 ? 1 : 5) + i * 4001) % (ADDRESSES / 5);
		frames[i] = (uint32_t)(at / BINARIES * BINARIES * 5 + at % BINARIES +
				       next(state) % (i % 3 ? 1 : 2) * BINARIES);
	}
}

static int compare_stacks(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	for (size_t i = 0; i < DEPTH; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

static void fill(struct merge *merge, size_t stacks)
{
	struct arena *arena = merge->arena;
	uint64_t state = 20;
	struct err err;

	for (size_t i = 0; i < ADDRESSES; i++) {
		size_t binary = i % BINARIES;
		const struct frame frame = {
			.type = STR("native"),
			.build_id = str_format(arena, "%040zx", binary * 7919),
			.path = str_format(arena, "/usr/lib/x86_64-linux-gnu/lib%zu.so", binary),
			.address = i / BINARIES * 16,
		};

		sample_set_frame(&merge->set, &frame);
	}
	uint32_t *all = arena_array(arena, uint32_t, stacks * DEPTH);

	for (size_t i = 0; i < stacks; i++)
		draw_stack(&all[i * DEPTH], &state);
	/* Sort each row's stacks, as stored rows do, so that neighbours share prefixes. */
	for (size_t i = 0; i < stacks; i += ROW)
		qsort(&all[i * DEPTH], i + ROW < stacks ? ROW : stacks - i, sizeof(*all) * DEPTH,
		      compare_stacks);
	for (size_t i = 0; i < stacks; i++) {
		uint32_t stack = sample_set_stack(&merge->set, &all[i * DEPTH], DEPTH);

		if (!merge_add(merge, stack, 0, 1, &err))
			abort();
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static double median_ms(uint64_t *ns)
{
	const size_t middle = ROUNDS / 2;

	qsort(ns, ROUNDS, sizeof(*ns), compare);
	return (double)ns[middle] / 1e6;
}

enum stage { MISSING, WIRE, LOOKUP, BY_FUNCTION, BY_ADDRESS, STAGES };

static void symbolization_open(struct symbolization *symbolization, struct source_times *times)
{
	*times = (struct source_times){ 0 };
	symbolization_init(symbolization, &(struct symbolization_options){
						  .source = { .query = query, .self = times },
						  .timeout_ns = 600 * NS_PER_SECOND,
						  .cache_max_bytes = UINT64_C(1) << 30 });
}

static uint64_t lookup_ns(struct symbolization *symbolization, struct merge *merge)
{
	const struct store_bounds unbound = { 0 };
	struct symbol_lookup lookup = { 0 };
	struct err err = { 0 };
	uint64_t began_ns = clock_cpu_ns();

	if (!symbol_lookup_run(&lookup, symbolization, merge, &unbound, &err))
		abort();
	symbol_lookup_done(&lookup);
	return clock_cpu_ns() - began_ns;
}

static void run(struct symbolization *symbolization, struct source_times *times,
		struct merge *merge, uint64_t ns[STAGES], size_t *ret_stacks)
{
	const struct store_bounds unbound = { 0 };
	struct symbol_lookup lookup = { 0 };
	struct err err = { 0 };
	uint64_t began_ns;

	symbolization_done(symbolization);
	symbolization_open(symbolization, times);
	ns[MISSING] = lookup_ns(symbolization, merge) - times->symbolizer_ns;
	ns[WIRE] = times->wire_ns;
	began_ns = clock_cpu_ns();
	if (!symbol_lookup_run(&lookup, symbolization, merge, &unbound, &err))
		abort();
	ns[LOOKUP] = clock_cpu_ns() - began_ns;
	for (enum stage stage = BY_FUNCTION; stage < STAGES; stage++) {
		AUTO_ARENA arena = { 0 };
		struct merge named;
		const struct symbolize_options options = { lookup.resolved, stage == BY_ADDRESS };

		began_ns = clock_cpu_ns();
		merge_init(&named, STR(PROFILE_TYPE_CPU), &ungrouped, UINT64_C(8) << 30, &arena);
		if (!symbolize_merge(&named, merge, &options, &err))
			abort();
		ns[stage] = clock_cpu_ns() - began_ns;
		ret_stacks[stage] = named.set.stacks.len;
	}
	symbol_lookup_done(&lookup);
}

int main(int argc, char **argv)
{
	static const char *const names[STAGES] = { "missing", "wire", "cache", "by function",
						   "by address" };
	static uint64_t ns[STAGES][ROUNDS];
	uint64_t stacks = 200000;
	size_t left[STAGES] = { 0 };
	AUTO_ARENA arena = { 0 };
	struct symbolization symbolization;
	struct source_times times;
	struct merge merge;

	if (argc > 1 && !str_to_u64(str_from(argv[1]), &stacks))
		return EXIT_FAILURE;
	symbolization_open(&symbolization, &times);
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, UINT64_C(8) << 30, &arena);
	fill(&merge, stacks);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint64_t turn_ns[STAGES];

		run(&symbolization, &times, &merge, turn_ns, left);
		for (size_t j = 0; j < STAGES; j++)
			ns[j][i] = turn_ns[j];
	}
	printf("%d addresses, %zu stacks of %d frames, cache of %zu MB\n", ADDRESSES,
	       merge.set.stacks.len, DEPTH, symbolization.cache.bytes >> 20);
	printf("responses of %zu KB, decoded %zu KB\n", times.response_bytes >> 10,
	       times.decoded_bytes >> 10);
	for (size_t i = 0; i < STAGES; i++)
		printf("%-12s %7.1f ms, %zu stacks\n", names[i], median_ms(ns[i]),
		       i <= LOOKUP ? merge.set.stacks.len : left[i]);
	symbolization_done(&symbolization);
	return 0;
}
