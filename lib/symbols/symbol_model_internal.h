// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_model - collects the symbols of a debug file, before they become the rows of a table.
 *
 * It has two layers: spans map addresses to functions and inlined calls (nodes), and places map
 * addresses to lines. Addresses outside of sections with code are dropped, such as functions that
 * the linker removed.
 *
 * Everything is in the arena. Input is untrusted, so the readers count their steps in `steps` and
 * call symbol_model_check(), the only function that fails. One thread.
 */
#pragma once

#include "elf/elf_symbols.h"
#include "symbols/symbol_spans_internal.h"
#include "symbols/symbol_writer_internal.h"

struct symbol_place {
	uint64_t address;
	uint32_t file, line; /* file: id of the writer; SYMBOL_NOWHERE: the sequence ends here */
};

#define SYMBOL_NOWHERE UINT32_MAX

/* Places in ascending order of addresses. The last one ends the sequence. */
struct symbol_sequence {
	uint64_t start;
	size_t first, count;
};

/* The address range of a section with code. */
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
	VEC(struct symbol_code) code; /* sorted by address */
	uint64_t steps, steps_max;    /* units of work, counted apart from memory */
};

void symbol_model_init(struct symbol_model *model, const struct elf_sections *sections,
		       uint64_t memory_max, struct arena *arena);

/* Raises steps_max for this number of bytes of input: SYMBOL_BUILD_STEPS_PER_BYTE for each byte. */
void symbol_model_add_input(struct symbol_model *model, uint64_t bytes);

/* The end of the code section that contains this address; 0: no section does. */
uint64_t symbol_model_code_end(const struct symbol_model *model, uint64_t address);

/* Adds an address range of a node, truncated to its code section. False: in no code section. */
bool symbol_model_add_span(struct symbol_model *model, struct symbol_span span);

/* The ELF symbol at exactly this address; NULL: none. */
const struct elf_symbol *symbol_model_find_symbol(const struct symbol_model *model,
						  uint64_t address);

/*
 * Ends the sequence that starts at places.items[first]. It is kept if it is in a code section, else
 * removed.
 */
void symbol_model_end_sequence(struct symbol_model *model, size_t first);

/* ERR_LIMIT: the arena exceeds memory_max, or steps exceeds steps_max. */
bool symbol_model_check(const struct symbol_model *model, struct err *err) MUST_CHECK;

/* Merges both layers into rows and passes them to the writer. */
void symbol_model_emit(struct symbol_model *model);
