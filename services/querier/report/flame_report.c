// SPDX-License-Identifier: Apache-2.0
#include "querier/report/flame_report.h"

#include "base/map.h"
#include "profile/profile_type.h"
#include "querier/report/flame_table_internal.h"
#include "querier/report/json_response.h"

/* The text columns of a node: the column's name, and the member of its symbol. */
static const struct {
	const char *name;
	size_t offset; /* in struct flame_symbol */
} columns[] = {
	{ "name", offsetof(struct flame_symbol, name) },
	{ "binary", offsetof(struct flame_symbol, binary) },
	{ "file", offsetof(struct flame_symbol, file) },
	{ "build_id", offsetof(struct flame_symbol, build_id) },
	{ "address", offsetof(struct flame_symbol, address) },
	{ "reason", offsetof(struct flame_symbol, reason) },
	{ "reason_code", offsetof(struct flame_symbol, reason_code) },
};
enum { COLUMNS = ARRAY_LEN(columns) };

/* Each text once, and for each column and symbol the index of its text. */
struct text_table {
	VEC(str) texts;
	uint32_t *of_symbols[COLUMNS];
};

static uint32_t text_index(struct text_table *table, struct map *seen, str text)
{
	void **place = map_at(seen, text);

	if (!*place) {
		*vec_push(seen->arena, &table->texts) = text;
		*place = (void *)table->texts.len; /* index + 1 */
	}
	return (uint32_t)(uintptr_t)*place - 1;
}

static void index_symbol(struct text_table *table, struct map *seen, const struct flame *flame,
			 uint32_t symbol)
{
	const char *texts = (const char *)&flame->symbols[symbol];

	for (size_t column = 0; column < COLUMNS; column++)
		table->of_symbols[column][symbol] =
			text_index(table, seen, *(const str *)(texts + columns[column].offset));
}

/* The texts of the symbols that nodes refer to. */
static struct text_table texts_of(const struct flame *flame, struct arena *arena)
{
	struct text_table table = { 0 };
	struct map seen = { .arena = arena };

	for (size_t column = 0; column < COLUMNS; column++)
		table.of_symbols[column] = arena_array(arena, uint32_t, flame->symbol_count);
	text_index(&table, &seen, (str){ 0 });
	for (size_t i = 0; i < flame->nodes.len; i++) {
		uint32_t symbol = flame->nodes.items[i].symbol;

		/*
		 * No symbol has an empty name, so the index of its name is above 0 once it is set.
		 */
		if (table.of_symbols[0][symbol] == 0)
			index_symbol(&table, &seen, flame, symbol);
	}
	return table;
}

/* A body while it is written, and its memory limit. */
struct report_writer {
	struct json_response body;
	struct merge *merge;
	struct arena *arena;
	struct err *err;
};

static void begin(struct report_writer *writer, const struct report_input *input,
		  struct arena *arena, struct err *err)
{
	struct json *json = &writer->body.json;

	writer->merge = input->merge;
	writer->arena = arena;
	writer->err = err;
	json_response_begin(&writer->body, arena);
	json_object(json);
	json_key(json, STR("unit"));
	json_str(json, profile_type_unit(input->type));
}

static void put_number(struct report_writer *writer, str key, int64_t value)
{
	json_key(&writer->body.json, key);
	json_i64(&writer->body.json, value);
}

static str end(struct report_writer *writer, const struct report_input *input)
{
	json_end_object(&writer->body.json);
	json_response_warnings(&writer->body.json, input->warnings, input->warning_count);
	return json_response_end(&writer->body, input->stats);
}

static bool within_memory(const struct report_writer *writer)
{
	return merge_within_memory(writer->merge, writer->arena, writer->err);
}

static bool put_names(struct report_writer *writer, const struct text_table *table)
{
	struct json *json = &writer->body.json;

	json_key(json, STR("names"));
	json_array(json);
	for (size_t i = 0; i < table->texts.len; i++) {
		json_str(json, table->texts.items[i]);
		if (!within_memory(writer))
			return false;
	}
	json_end_array(json);
	return true;
}

static bool put_texts(struct report_writer *writer, const struct flame *flame,
		      const struct text_table *table)
{
	struct json *json = &writer->body.json;

	for (size_t column = 0; column < COLUMNS; column++) {
		json_key(json, str_from(columns[column].name));
		json_array(json);
		for (size_t i = 0; i < flame->nodes.len; i++) {
			uint32_t symbol = flame->nodes.items[i].symbol;

			json_u64(json, table->of_symbols[column][symbol]);
			if (!within_memory(writer))
				return false;
		}
		json_end_array(json);
	}
	return true;
}

static bool put_parents(struct report_writer *writer, const struct flame *flame)
{
	struct json *json = &writer->body.json;

	json_key(json, STR("parent"));
	json_array(json);
	for (size_t i = 0; i < flame->nodes.len; i++) {
		uint32_t parent = flame->nodes.items[i].parent;

		json_i64(json, parent == FLAME_NO_PARENT ? -1 : (int64_t)parent);
		if (!within_memory(writer))
			return false;
	}
	json_end_array(json);
	return true;
}

static bool put_values(struct report_writer *writer, const struct flame *flame, str key,
		       bool is_total)
{
	struct json *json = &writer->body.json;

	json_key(json, key);
	json_array(json);
	for (size_t i = 0; i < flame->nodes.len; i++) {
		const struct flame_node *node = &flame->nodes.items[i];

		json_i64(json, is_total ? node->total : node->self);
		if (!within_memory(writer))
			return false;
	}
	json_end_array(json);
	return true;
}

bool flame_report_write(const struct report_input *input, struct arena *arena, str *ret_body,
			struct err *err)
{
	struct report_writer writer;
	struct flame flame;

	if (!flame_build(input->merge, arena, &flame, err))
		return false;

	struct text_table table = texts_of(&flame, arena);

	begin(&writer, input, arena, err);
	put_number(&writer, STR("total"), flame.total);
	if (!put_names(&writer, &table))
		return false;
	json_key(&writer.body.json, STR("nodes"));
	json_object(&writer.body.json);
	if (!put_parents(&writer, &flame) || !put_texts(&writer, &flame, &table) ||
	    !put_values(&writer, &flame, STR("self"), false) ||
	    !put_values(&writer, &flame, STR("total"), true))
		return false;
	json_end_object(&writer.body.json);
	*ret_body = end(&writer, input);
	return true;
}

bool diff_report_write(const struct report_input *input, const struct diff *diff,
		       struct arena *arena, str *ret_body, struct err *err)
{
	struct text_table table = texts_of(&diff->a, arena);
	struct report_writer writer;

	begin(&writer, input, arena, err);
	put_number(&writer, STR("a_total"), diff->a.total);
	put_number(&writer, STR("b_total"), diff->b.total);
	if (!put_names(&writer, &table))
		return false;
	json_key(&writer.body.json, STR("nodes"));
	json_object(&writer.body.json);
	if (!put_parents(&writer, &diff->a) || !put_texts(&writer, &diff->a, &table) ||
	    !put_values(&writer, &diff->a, STR("a_self"), false) ||
	    !put_values(&writer, &diff->a, STR("a_total"), true) ||
	    !put_values(&writer, &diff->b, STR("b_self"), false) ||
	    !put_values(&writer, &diff->b, STR("b_total"), true))
		return false;
	json_end_object(&writer.body.json);
	*ret_body = end(&writer, input);
	return true;
}

static void put_text(struct json *json, str key, str text)
{
	json_key(json, key);
	json_str(json, text);
}

static void put_row(struct json *json, const struct merge *merge, const struct flame_symbol *symbol,
		    const struct flame_row *row)
{
	json_object(json);
	put_text(json, STR("function"), symbol->name);
	put_text(json, STR("binary"), symbol->binary);
	put_text(json, STR("file"), symbol->file);
	if (symbol->build_id.len)
		put_text(json, STR("build_id"), symbol->build_id);
	if (symbol->reason.len) {
		put_text(json, STR("reason"), symbol->reason);
		put_text(json, STR("reason_code"), symbol->reason_code);
	}
	json_key(json, STR("self"));
	json_i64(json, row->self);
	json_key(json, STR("total"));
	json_i64(json, row->total);
	if (merge->group_by->len) {
		json_key(json, STR("labels"));
		json_response_labels(json, merge->set.label_sets.items[row->labels]);
	}
	json_end_object(json);
}

bool flame_table_report_write(const struct report_input *input, struct arena *arena, str *ret_body,
			      struct err *err)
{
	struct report_writer writer;
	struct flame_table table;

	if (!flame_table_build(input->merge, arena, &table, err))
		return false;
	begin(&writer, input, arena, err);
	put_number(&writer, STR("total"), table.total);
	json_key(&writer.body.json, STR("rows"));
	json_array(&writer.body.json);
	for (size_t i = 0; i < table.rows.len; i++) {
		const struct flame_row *row = &table.rows.items[i];

		put_row(&writer.body.json, input->merge, &table.symbols[row->symbol], row);
		if (!within_memory(&writer))
			return false;
	}
	json_end_array(&writer.body.json);
	*ret_body = end(&writer, input);
	return true;
}
