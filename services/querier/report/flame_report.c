// SPDX-License-Identifier: Apache-2.0
#include "querier/report/flame_report.h"

#include "base/map.h"
#include "profile/profile_type.h"
#include "querier/report/build_lists_internal.h"
#include "querier/report/json_response.h"

/* The member of a symbol that is the text of a column. */
static const size_t text_offsets[COLUMN_BUILDS] = {
	[COLUMN_NAME] = offsetof(struct flame_symbol, name),
	[COLUMN_BINARY] = offsetof(struct flame_symbol, binary),
	[COLUMN_FILE] = offsetof(struct flame_symbol, file),
	[COLUMN_BUILD_ID] = offsetof(struct flame_symbol, build_id),
	[COLUMN_ADDRESS] = offsetof(struct flame_symbol, address),
	[COLUMN_REASON] = offsetof(struct flame_symbol, reason),
	[COLUMN_REASON_CODE] = offsetof(struct flame_symbol, reason_code),
};

/*
 * What the columns refer to: each text once, each list of builds once; and for each column and
 * symbol the index of its text or list. Builds are pairs of indexes of texts.
 */
struct node_tables {
	VEC(str) texts;
	struct build_lists lists;
	VEC(uint32_t) builds; /* of all lists: text of the path, text of the build id */
	uint32_t *of_symbols[REPORT_COLUMN_COUNT]; /* NULL: the column is not wanted */
};

static str text_of(const struct flame_symbol *symbol, size_t column)
{
	return *(const str *)((const char *)symbol + text_offsets[column]);
}

static uint32_t text_index(struct node_tables *tables, struct map *seen, str text)
{
	void **place = map_at(seen, text);

	if (!*place) {
		*vec_push(seen->arena, &tables->texts) = text;
		*place = (void *)tables->texts.len; /* index + 1 */
	}
	return (uint32_t)(uintptr_t)*place - 1;
}

static void index_symbol(struct node_tables *tables, struct map *seen,
			 const struct flame_symbols *symbols, uint32_t symbol)
{
	const struct flame_symbol *item = &symbols->items[symbol];

	for (size_t column = 0; column < COLUMN_BUILDS; column++)
		if (tables->of_symbols[column])
			tables->of_symbols[column][symbol] =
				text_index(tables, seen, text_of(item, column));
	if (tables->of_symbols[COLUMN_BUILDS])
		tables->of_symbols[COLUMN_BUILDS][symbol] = build_lists_add(&tables->lists, item);
}

static void index_builds(struct node_tables *tables, struct map *seen)
{
	for (size_t i = 0; i < tables->lists.items.len; i++) {
		struct build_list list = tables->lists.items.items[i];

		for (size_t j = 0; j < list.count; j++) {
			uint32_t path = text_index(tables, seen, list.builds[j].path);
			uint32_t build_id = text_index(tables, seen, list.builds[j].build_id);

			*vec_push(seen->arena, &tables->builds) = path;
			*vec_push(seen->arena, &tables->builds) = build_id;
		}
	}
}

/* Of the symbols that nodes refer to. */
static struct node_tables tables_of(const struct flame *flame, report_columns columns,
				    struct arena *arena)
{
	struct node_tables tables = { .lists = { .left_out = 0 } };
	struct map seen = { .arena = arena };
	bool *done = arena_array(arena, bool, flame->symbols->len);

	build_lists_init(&tables.lists, arena);
	for (enum report_column column = 0; column < REPORT_COLUMN_COUNT; column++)
		if (report_columns_has(columns, column))
			tables.of_symbols[column] =
				arena_array(arena, uint32_t, flame->symbols->len);
	text_index(&tables, &seen, (str){ 0 });
	for (size_t i = 0; i < flame->nodes.len; i++) {
		uint32_t symbol = flame->nodes.items[i].symbol;

		if (!done[symbol])
			index_symbol(&tables, &seen, flame->symbols, symbol);
		done[symbol] = true;
	}
	index_builds(&tables, &seen);
	return tables;
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

static bool put_names(struct report_writer *writer, const struct node_tables *tables)
{
	struct json *json = &writer->body.json;

	json_key(json, STR("names"));
	json_array(json);
	for (size_t i = 0; i < tables->texts.len; i++) {
		json_str(json, tables->texts.items[i]);
		if (!within_memory(writer))
			return false;
	}
	json_end_array(json);
	return true;
}

static bool put_builds(struct report_writer *writer, const struct node_tables *tables)
{
	struct json *json = &writer->body.json;
	const uint32_t *next = tables->builds.items;

	if (!tables->of_symbols[COLUMN_BUILDS])
		return true;
	json_key(json, STR("builds"));
	json_array(json);
	for (size_t i = 0; i < tables->lists.items.len; i++) {
		json_array(json);
		for (size_t j = 0; j < tables->lists.items.items[i].count; j++, next += 2) {
			json_array(json);
			json_u64(json, next[0]);
			json_u64(json, next[1]);
			json_end_array(json);
		}
		json_end_array(json);
		if (!within_memory(writer))
			return false;
	}
	json_end_array(json);
	put_number(writer, STR("builds_left_out"), (int64_t)tables->lists.left_out);
	return true;
}

static bool put_columns(struct report_writer *writer, const struct flame *flame,
			const struct node_tables *tables)
{
	struct json *json = &writer->body.json;

	for (size_t column = 0; column < REPORT_COLUMN_COUNT; column++) {
		if (!tables->of_symbols[column])
			continue;
		json_key(json, str_from(report_column_names[column]));
		json_array(json);
		for (size_t i = 0; i < flame->nodes.len; i++) {
			uint32_t symbol = flame->nodes.items[i].symbol;

			json_u64(json, tables->of_symbols[column][symbol]);
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
	struct flame_symbols symbols;
	struct flame flame;

	if (!flame_symbols_make(&symbols, &input->merge, 1, input->identity, arena, err) ||
	    !flame_build(&symbols, 0, arena, &flame, err))
		return false;

	struct node_tables tables = tables_of(&flame, input->columns, arena);

	begin(&writer, input, arena, err);
	put_number(&writer, STR("total"), flame.total);
	if (!put_names(&writer, &tables) || !put_builds(&writer, &tables))
		return false;
	json_key(&writer.body.json, STR("nodes"));
	json_object(&writer.body.json);
	if (!put_parents(&writer, &flame) || !put_columns(&writer, &flame, &tables) ||
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
	struct node_tables tables = tables_of(&diff->a, input->columns, arena);
	struct report_writer writer;

	begin(&writer, input, arena, err);
	put_number(&writer, STR("a_total"), diff->a.total);
	put_number(&writer, STR("b_total"), diff->b.total);
	if (!put_names(&writer, &tables) || !put_builds(&writer, &tables))
		return false;
	json_key(&writer.body.json, STR("nodes"));
	json_object(&writer.body.json);
	if (!put_parents(&writer, &diff->a) || !put_columns(&writer, &diff->a, &tables) ||
	    !put_values(&writer, &diff->a, STR("a_self"), false) ||
	    !put_values(&writer, &diff->a, STR("a_total"), true) ||
	    !put_values(&writer, &diff->b, STR("b_self"), false) ||
	    !put_values(&writer, &diff->b, STR("b_total"), true))
		return false;
	json_end_object(&writer.body.json);
	*ret_body = end(&writer, input);
	return true;
}
