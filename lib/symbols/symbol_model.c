// SPDX-License-Identifier: Apache-2.0
#include "base/sorted.h"
#include "elf/limits.h"
#include "symbols/symbol_model_internal.h"

#include <elf.h>

static int code_compare(const void *left, const void *right)
{
	const struct symbol_code *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void symbol_model_init(struct symbol_model *model, const struct elf_sections *sections,
		       uint64_t memory_max, struct arena *arena)
{
	*model = (struct symbol_model){ .arena = arena,
					.memory_max = memory_max,
					.steps_max = SYMBOL_BUILD_STEPS_MIN };
	symbol_writer_init(&model->writer, arena);
	for (size_t i = 0; i < sections->len; i++) {
		const struct elf_section *section = &sections->items[i];
		uint64_t end;

		if ((section->flags & SHF_ALLOC) && (section->flags & SHF_EXECINSTR) &&
		    !__builtin_add_overflow(section->address, section->size, &end))
			*vec_push(arena, &model->code) =
				(struct symbol_code){ section->address, end };
	}
	if (model->code.len)
		qsort(model->code.items, model->code.len, sizeof(*model->code.items), code_compare);
}

void symbol_model_add_input(struct symbol_model *model, uint64_t bytes)
{
	model->steps_max += bytes * SYMBOL_BUILD_STEPS_PER_BYTE;
}

uint64_t symbol_model_code_end(const struct symbol_model *model, uint64_t address)
{
	size_t begun =
		sorted_before(model->code.items, model->code.len, each, each->start <= address);
	uint64_t end = begun ? model->code.items[begun - 1].end : 0;

	return address < end ? end : 0;
}

bool symbol_model_add_span(struct symbol_model *model, struct symbol_span span)
{
	uint64_t end = symbol_model_code_end(model, span.start);

	if (span.end > end)
		span.end = end;
	if (span.start >= span.end)
		return false;
	*vec_push(model->arena, &model->spans) = span;
	return true;
}

const struct elf_symbol *symbol_model_find_symbol(const struct symbol_model *model,
						  uint64_t address)
{
	const struct elf_symbol *symbols = model->symbols.items;
	size_t before = sorted_before(symbols, model->symbols.len, each, each->start < address);

	return before < model->symbols.len && symbols[before].start == address ? &symbols[before]
									       : NULL;
}

void symbol_model_end_sequence(struct symbol_model *model, size_t first)
{
	size_t count = model->places.len - first;
	struct symbol_place *places = &model->places.items[first];
	uint64_t end = count ? symbol_model_code_end(model, places[0].address) : 0;

	if (count < 2 || end == 0) {
		model->places.len = first;
		return;
	}
	while (count > 1 && places[count - 1].address > end)
		count--;
	if (places[count - 1].file != SYMBOL_NOWHERE) /* its end was past the code */
		places[count++] = (struct symbol_place){ end, SYMBOL_NOWHERE, 0 };
	model->places.len = first + count;
	*vec_push(model->arena, &model->sequences) =
		(struct symbol_sequence){ places[0].address, first, count };
}

bool symbol_model_check(const struct symbol_model *model, struct err *err)
{
	if (model->arena->size > model->memory_max)
		return err_set(err, ERR_LIMIT, "the symbols need more than %ju bytes of memory",
			       (uintmax_t)model->memory_max);
	return model->steps <= model->steps_max ||
	       err_set(err, ERR_LIMIT, "the symbols need more than %ju steps",
		       (uintmax_t)model->steps_max);
}

static int sequence_compare(const void *left, const void *right)
{
	const struct symbol_sequence *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* Iterates over the places of all sequences, without duplicates. */
struct place_cursor {
	const struct symbol_model *model;
	size_t sequence, at;
	uint64_t covered; /* end of the previous sequences */
	bool has_place;
	struct symbol_place place;
};

/* True if the place holds for addresses that no previous sequence covers. */
static bool place_is_new(const struct symbol_sequence *sequence, const struct symbol_place *places,
			 size_t at, uint64_t covered)
{
	if (at + 1 < sequence->count)
		return places[at + 1].address > covered;
	return places[at].address >= covered;
}

static void place_next(struct place_cursor *cursor)
{
	const struct symbol_model *model = cursor->model;

	cursor->has_place = false;
	while (cursor->sequence < model->sequences.len) {
		const struct symbol_sequence *sequence = &model->sequences.items[cursor->sequence];
		const struct symbol_place *places = &model->places.items[sequence->first];
		size_t at = cursor->at++;

		if (at == sequence->count) {
			if (places[at - 1].address > cursor->covered)
				cursor->covered = places[at - 1].address;
			cursor->sequence++;
			cursor->at = 0;
		} else if (place_is_new(sequence, places, at, cursor->covered)) {
			cursor->place = places[at];
			if (cursor->place.address < cursor->covered)
				cursor->place.address = cursor->covered;
			cursor->has_place = true;
			return;
		}
	}
}

/* Applies the places at this address to the row; the last one wins. */
static void places_apply(struct place_cursor *cursor, struct symbol_row *row)
{
	while (cursor->has_place && cursor->place.address == row->address) {
		bool is_end = cursor->place.file == SYMBOL_NOWHERE;

		row->file = is_end ? 0 : cursor->place.file;
		row->line = is_end ? 0 : cursor->place.line;
		place_next(cursor);
	}
}

static void sequences_sort(struct symbol_model *model)
{
	if (model->sequences.len)
		qsort(model->sequences.items, model->sequences.len, sizeof(*model->sequences.items),
		      sequence_compare);
}

/* Merges the two layers: each change of either one is a row. */
void symbol_model_emit(struct symbol_model *model)
{
	symbol_points points = symbol_spans_flatten(&model->spans, model->arena);
	struct place_cursor cursor = { .model = model };
	struct symbol_row row = { 0 };
	size_t i = 0;

	sequences_sort(model);
	place_next(&cursor);
	while (i < points.len || cursor.has_place) {
		uint64_t point_at = i < points.len ? points.items[i].address : UINT64_MAX;
		uint64_t place_at = cursor.has_place ? cursor.place.address : UINT64_MAX;

		row.address = point_at < place_at ? point_at : place_at;
		for (; i < points.len && points.items[i].address == row.address; i++)
			row.node = points.items[i].node;
		places_apply(&cursor, &row);
		symbol_writer_row(&model->writer, row);
	}
}
