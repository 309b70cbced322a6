// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_dump - prints the samples of stored rows as text, one line per sample.
 *
 * Reads payloads from standard input, each preceded by its length (4 bytes, big-endian). Prints:
 *
 *     index of the row, series, type, time (ms), value, stack, labels
 *
 * separated by tabs. Series and stack are printed as hashes in hex, which are the same in every
 * row. Each row is decoded by chunk_decode() alone: neither compaction nor the readers are
 * involved.
 */
#include "store/chunk/chunk_decode.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROW_MAX = 1 << 28 };

static bool any_series(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	struct arena *arena = self;
	struct label *label = arena_new(arena, struct label);

	(void)type;
	label->name = STR("id");
	label->value = str_format(arena, "%016" PRIx64, id);
	*ret_labels = (struct labels){ label, 1 };
	return true;
}

static void dump(const struct sample_set *set, size_t number)
{
	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];
		const struct series *series = &set->series.items[sample->series];
		struct labels labels = set->label_sets.items[sample->labels];
		hash128 stack = sample_set_stack_id(set, sample->stack);

		printf("%zu\t" STR_FMT "\t" STR_FMT "\t%" PRIu64 "\t%" PRId64 "\t%016" PRIx64
		       "%016" PRIx64 "\t",
		       number, STR_ARG(series->labels.items[0].value), STR_ARG(series->type),
		       sample->time_ms, sample->value, stack.high, stack.low);
		for (size_t j = 0; j < labels.len; j++)
			printf("%s" STR_FMT "=" STR_FMT, j ? "," : "",
			       STR_ARG(labels.items[j].name), STR_ARG(labels.items[j].value));
		putchar('\n');
	}
}

static bool read_row(struct arena *arena, str *ret_row)
{
	unsigned char head[4];

	if (fread(head, 1, sizeof(head), stdin) != sizeof(head))
		return false;

	size_t len = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
	char *bytes = len <= ROW_MAX ? arena_array(arena, char, len + 1) : NULL;

	*ret_row = (str){ bytes, len };
	return bytes && fread(bytes, 1, len, stdin) == len;
}

int main(void)
{
	AUTO_ARENA arena = { 0 };
	str row;

	for (size_t number = 0; read_row(&arena, &row); number++) {
		const struct chunk_filter filter = { .series = any_series,
						     .self = &arena,
						     .end_ms = UINT64_MAX };
		struct sample_set set;
		uint64_t samples;
		struct err err;

		sample_set_init(&set, &arena);
		if (!chunk_decode(row, &filter, &set, &samples, &err)) {
			fprintf(stderr, "row %zu: %s\n", number, err.msg);
			return 1;
		}
		dump(&set, number);
		arena_reset(&arena);
	}
	return 0;
}
