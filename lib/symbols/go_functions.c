// SPDX-License-Identifier: Apache-2.0
#include "base/sorted.h"
#include "elf/limits.h"
#include "symbols/go_functions_internal.h"
#include "symbols/go_table.h"

enum { NOT_INLINED = -1, UNKNOWN_CALL = -2 }; /* indices of inlined calls */

/* The function being read: its lists of values, and the nodes of its inlined calls so far. */
struct go_walk {
	const struct go_table *table;
	struct symbol_model *model;
	struct arena scratch;
	struct go_function function;
	uint32_t node;
	go_values files, lines, inlined;
	struct known_call {
		uint32_t node, depth;
	} * calls;
	size_t call_count;
};

static int64_t value_at(const go_values *values, uint64_t pc)
{
	size_t ended = sorted_before(values->items, values->len, each, each->end <= pc);

	return ended < values->len ? values->items[ended].value : NOT_INLINED;
}

static uint32_t file_at(struct go_walk *walk, uint64_t pc)
{
	str path = go_table_file(walk->table, walk->function.unit, value_at(&walk->files, pc));

	return symbol_writer_file(&walk->model->writer, path);
}

static uint32_t line_at(struct go_walk *walk, uint64_t pc)
{
	int64_t line = value_at(&walk->lines, pc);

	return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

/*
 * The node of an inlined call. It first adds the calls around it, which are at the pc of the call
 * in its parent. If the tree has a cycle or is too deep, the parent is the function itself.
 */
static struct known_call call_node(struct go_walk *walk, int64_t index, size_t hops)
{
	struct known_call none = { walk->node, 1 };

	if (index < 0 || (size_t)index >= walk->call_count || hops >= SYMBOL_LINES_MAX)
		return none;

	struct known_call *known = &walk->calls[index];
	struct go_call call;

	if (known->node)
		return *known;
	if (!go_table_call(walk->table, walk->function.tree, (size_t)index, &call))
		return none;

	struct known_call parent = call_node(walk, value_at(&walk->inlined, call.pc), hops + 1);
	struct symbol_writer *writer = &walk->model->writer;

	if (parent.depth >= SYMBOL_LINES_MAX)
		return parent;
	if (!known->node) {
		known->depth = parent.depth + 1;
		known->node = symbol_writer_node(
			writer,
			(struct symbol_node){
				symbol_writer_function(writer, call.name, call.start_line),
				parent.node, file_at(walk, call.pc), line_at(walk, call.pc) });
	}
	return *known;
}

/* The largest index of the instructions bounds the number of calls. */
static void calls_read(struct go_walk *walk)
{
	int64_t most = -1;

	for (size_t i = 0; i < walk->inlined.len; i++)
		if (walk->inlined.items[i].value > most)
			most = walk->inlined.items[i].value;
	walk->call_count = go_table_call_count(walk->table, walk->function.tree);
	if (most < 0 || (uint64_t)most >= walk->call_count)
		walk->call_count = 0;
	else
		walk->call_count = (size_t)most + 1;
	walk->calls = arena_array(&walk->scratch, struct known_call, walk->call_count);
	for (size_t i = 0; i < walk->inlined.len; i++) {
		struct go_value *piece = &walk->inlined.items[i];
		struct known_call call = call_node(walk, piece->value, 0);

		if (call.node == walk->node && piece->value >= 0)
			piece->value = UNKNOWN_CALL;
		if (call.node != walk->node)
			(void)!symbol_model_add_span(
				walk->model,
				(struct symbol_span){ walk->function.address + piece->start,
						      walk->function.address + piece->end,
						      call.node, call.depth });
	}
}

/* The instructions of an inlined call have its file and its line: if the call is unknown, they are
 * not those of the function. */
static struct symbol_place place_at(struct go_walk *walk, uint64_t pc)
{
	uint64_t address = walk->function.address + pc;

	if (value_at(&walk->inlined, pc) == UNKNOWN_CALL)
		return (struct symbol_place){ address, 0, 0 };
	return (struct symbol_place){ address, file_at(walk, pc), line_at(walk, pc) };
}

/* Adds a place at each change of the file, of the line or of the inlined call. */
static void lines_read(struct go_walk *walk, uint64_t end)
{
	struct symbol_model *model = walk->model;
	size_t first = model->places.len, i = 0, k = 0, m = 0;
	uint64_t pc = 0, len = end - walk->function.address;

	while (pc < len && i < walk->files.len && k < walk->lines.len) {
		uint64_t next = walk->files.items[i].end;

		if (next > walk->lines.items[k].end)
			next = walk->lines.items[k].end;
		if (m < walk->inlined.len && next > walk->inlined.items[m].end)
			next = walk->inlined.items[m].end;
		if (next > pc)
			*vec_push(model->arena, &model->places) = place_at(walk, pc);
		m += m < walk->inlined.len && walk->inlined.items[m].end == next;
		i += walk->files.items[i].end == next;
		k += walk->lines.items[k].end == next;
		pc = next;
	}
	if (model->places.len == first)
		return;
	*vec_push(model->arena, &model->places) =
		(struct symbol_place){ walk->function.address + (pc < len ? pc : len),
				       SYMBOL_NOWHERE, 0 };
	symbol_model_end_sequence(model, first);
}

static void function_read(struct go_walk *walk, uint64_t next)
{
	struct symbol_writer *writer = &walk->model->writer;
	const struct go_function *function = &walk->function;
	uint64_t end;

	go_table_values(walk->table, function->file_values, &walk->scratch, &walk->files);
	go_table_values(walk->table, function->line_values, &walk->scratch, &walk->lines);
	go_table_values(walk->table, function->inlined_values, &walk->scratch, &walk->inlined);
	walk->model->steps += walk->files.len + walk->lines.len + walk->inlined.len;
	/* After the last instruction, padding follows up to the next function. */
	end = walk->lines.len ? function->address + walk->lines.items[walk->lines.len - 1].end
			      : next;
	if (end > next)
		end = next;
	walk->node = (uint32_t)writer->nodes.len;
	if (!symbol_model_add_span(walk->model,
				   (struct symbol_span){ function->address, end, walk->node, 1 }))
		return;
	symbol_writer_node(writer, (struct symbol_node){
					   .function = symbol_writer_function(
						   writer, function->name, function->start_line) });
	calls_read(walk);
	lines_read(walk, end);
}

bool go_functions_read(int fd, const struct elf_sections *sections, struct symbol_model *model,
		       struct err *err)
{
	struct go_table table;
	struct go_walk walk = { .table = &table, .model = model };
	bool done = true;

	if (!go_table_open(&table, fd, sections, model->arena, err))
		return false;
	symbol_model_add_input(model, table.bytes.len);
	for (uint64_t i = 0; done && i < table.function_count; i++) {
		uint64_t next;

		if (!go_table_function(&table, i, &walk.function) ||
		    !go_table_address(&table, i + 1, &next))
			break;
		arena_reset(&walk.scratch);
		walk.files = walk.lines = walk.inlined = (go_values){ 0 };
		function_read(&walk, next);
		done = symbol_model_check(model, err);
	}
	arena_free(&walk.scratch);
	return done;
}
