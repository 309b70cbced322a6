// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_model - what a debug file says, gathered from its parts before it is laid flat and
 * written.
 *
 * Two layers: spans say which function stands at an address, places say which line. What lies in no
 * section of code, such as functions that the linker left out, is not taken in.
 */
#pragma once

#include "elf_symbols.h"
#include "symbol_spans.h"
#include "symbol_writer.h"

struct symbol_place {
	uint64_t address;
	uint32_t file, line; /* of the writer; file is SYMBOL_NOWHERE where a sequence ends */
};

#define SYMBOL_NOWHERE UINT32_MAX

/* Places in the order of their addresses, the last of which ends it. */
struct symbol_sequence {
	uint64_t start;
	size_t first, count;
};

struct symbol_code {
	uint64_t start, end;
};

struct symbol_model {
	struct arena *arena;
	uint64_t memory_max;
	struct symbol_writer writer;
	elf_symbols symbols;
	symbol_spans spans;
	VEC(struct symbol_place) places;
	VEC(struct symbol_sequence) sequences;
	VEC(struct symbol_code) code; /* in the order of their addresses */
	uint64_t steps, steps_max;    /* of work, which may leave nothing in memory */
};

void symbol_model_init(struct symbol_model *model, const struct elf_sections *sections,
		       uint64_t memory_max, struct arena *arena);

/* What is read is so long: that much work more may be done. */
void symbol_model_add_input(struct symbol_model *model, uint64_t bytes);

/* Where the code that holds this address ends; 0: none does. */
uint64_t symbol_model_code_end(const struct symbol_model *model, uint64_t address);

/* A piece of a node: cut at the end of its code; of what lies in none false is said. */
bool symbol_model_span(struct symbol_model *model, struct symbol_span span);

/* The symbol at just this address; its name is empty: none. */
str symbol_model_symbol(const struct symbol_model *model, uint64_t address);

/* The sequence that began with places.items[first]: kept if it lies in code, else forgotten. */
void symbol_model_sequence(struct symbol_model *model, size_t first);

/* ERR_LIMIT: there is more than may be held, or more work than there may be. */
bool symbol_model_check(const struct symbol_model *model, struct err *err) MUST_CHECK;

/* Lay both layers flat and say them to the writer. */
void symbol_model_emit(struct symbol_model *model);
