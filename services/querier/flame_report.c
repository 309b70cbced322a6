// SPDX-License-Identifier: Apache-2.0
#include "flame_report.h"

#include "base/map.h"
#include "json_response.h"
#include "profile/profile_type.h"

/* What a node says beside its numbers: texts of its symbol, by the column's name. */
static const struct {
	const char *name;
	size_t offset; /* in the symbol */
} columns[] = {
	{ "name", offsetof(struct flame_symbol, name) },
	{ "binary", offsetof(struct flame_symbol, binary) },
	{ "file", offsetof(struct flame_symbol, file) },
	{ "build_id", offsetof(struct flame_symbol, build_id) },
	{ "address", offsetof(struct flame_symbol, address) },
	{ "reason", offsetof(struct flame_symbol, reason) },
	{ "reason_word", offsetof(struct flame_symbol, reason_word) },
};
enum { COLUMNS = ARRAY_LEN(columns) };

/* Texts, each once, and for each symbol which texts it has. */
struct names {
	VEC(str) texts;
	uint32_t *of_symbols[COLUMNS];
};

static uint32_t name_number(struct names *names, struct map *seen, str text)
{
	void **place = map_at(seen, text.ptr ? text : STR(""));

	if (!*place) {
		*vec_push(seen->arena, &names->texts) = text;
		*place = (void *)names->texts.len; /* number + 1 */
	}
	return (uint32_t)(uintptr_t)*place - 1;
}

static void name_symbol(struct names *names, struct map *seen, const struct flame *flame,
			uint32_t symbol)
{
	const char *texts = (const char *)&flame->symbols[symbol];

	for (size_t column = 0; column < COLUMNS; column++)
		names->of_symbols[column][symbol] =
			name_number(names, seen, *(const str *)(texts + columns[column].offset));
}

/* Of the symbols that nodes speak of. */
static struct names names_of(const struct flame *flame, struct arena *arena)
{
	struct names names = { 0 };
	struct map seen = { .arena = arena };

	for (size_t column = 0; column < COLUMNS; column++)
		names.of_symbols[column] = arena_array(arena, uint32_t, flame->symbol_count);
	name_number(&names, &seen, (str){ 0 });
	for (size_t i = 0; i < flame->nodes.len; i++) {
		uint32_t symbol = flame->nodes.items[i].symbol;

		/* No symbol's own name is empty: its number is above 0 once it is known. */
		if (names.of_symbols[0][symbol] == 0)
			name_symbol(&names, &seen, flame, symbol);
	}
	return names;
}

/* A body being written, and whether it still may. */
struct writing {
	struct json_response body;
	struct merge *merge;
	struct arena *arena;
	struct err *err;
};

static void begin(struct writing *writing, const struct answer *answer, struct arena *arena,
		  struct err *err)
{
	struct json *json = &writing->body.json;

	writing->merge = answer->merge;
	writing->arena = arena;
	writing->err = err;
	json_response_begin(&writing->body, arena);
	json_object(json);
	json_key(json, STR("unit"));
	json_str(json, profile_type_unit(answer->type));
}

static void put_number(struct writing *writing, str key, int64_t value)
{
	json_key(&writing->body.json, key);
	json_i64(&writing->body.json, value);
}

static str end(struct writing *writing, const struct answer *answer)
{
	json_end_object(&writing->body.json);
	json_response_warnings(&writing->body.json, answer->warnings, answer->warning_count);
	return json_response_end(&writing->body, answer->stats);
}

static bool within_memory(const struct writing *writing)
{
	return merge_within_memory(writing->merge, writing->arena, writing->err);
}

static bool put_names(struct writing *writing, const struct names *names)
{
	struct json *json = &writing->body.json;

	json_key(json, STR("names"));
	json_array(json);
	for (size_t i = 0; i < names->texts.len; i++) {
		json_str(json, names->texts.items[i]);
		if (!within_memory(writing))
			return false;
	}
	json_end_array(json);
	return true;
}

static bool put_texts(struct writing *writing, const struct flame *flame, const struct names *names)
{
	struct json *json = &writing->body.json;

	for (size_t column = 0; column < COLUMNS; column++) {
		json_key(json, str_from(columns[column].name));
		json_array(json);
		for (size_t i = 0; i < flame->nodes.len; i++) {
			uint32_t symbol = flame->nodes.items[i].symbol;

			json_u64(json, names->of_symbols[column][symbol]);
			if (!within_memory(writing))
				return false;
		}
		json_end_array(json);
	}
	return true;
}

static bool put_parents(struct writing *writing, const struct flame *flame)
{
	struct json *json = &writing->body.json;

	json_key(json, STR("parent"));
	json_array(json);
	for (size_t i = 0; i < flame->nodes.len; i++) {
		uint32_t parent = flame->nodes.items[i].parent;

		json_i64(json, parent == FLAME_NO_PARENT ? -1 : (int64_t)parent);
		if (!within_memory(writing))
			return false;
	}
	json_end_array(json);
	return true;
}

static bool put_values(struct writing *writing, const struct flame *flame, str key, bool is_total)
{
	struct json *json = &writing->body.json;

	json_key(json, key);
	json_array(json);
	for (size_t i = 0; i < flame->nodes.len; i++) {
		const struct flame_node *node = &flame->nodes.items[i];

		json_i64(json, is_total ? node->total : node->self);
		if (!within_memory(writing))
			return false;
	}
	json_end_array(json);
	return true;
}

bool flame_report_write(const struct answer *answer, struct arena *arena, str *ret_body,
			struct err *err)
{
	struct writing writing;
	struct flame flame;

	if (!flame_build(answer->merge, arena, &flame, err))
		return false;

	struct names names = names_of(&flame, arena);

	begin(&writing, answer, arena, err);
	put_number(&writing, STR("total"), flame.total);
	if (!put_names(&writing, &names))
		return false;
	json_key(&writing.body.json, STR("nodes"));
	json_object(&writing.body.json);
	if (!put_parents(&writing, &flame) || !put_texts(&writing, &flame, &names) ||
	    !put_values(&writing, &flame, STR("self"), false) ||
	    !put_values(&writing, &flame, STR("total"), true))
		return false;
	json_end_object(&writing.body.json);
	*ret_body = end(&writing, answer);
	return true;
}

bool diff_report_write(const struct answer *answer, const struct diff *diff, struct arena *arena,
		       str *ret_body, struct err *err)
{
	struct names names = names_of(&diff->a, arena);
	struct writing writing;

	begin(&writing, answer, arena, err);
	put_number(&writing, STR("a_total"), diff->a.total);
	put_number(&writing, STR("b_total"), diff->b.total);
	if (!put_names(&writing, &names))
		return false;
	json_key(&writing.body.json, STR("nodes"));
	json_object(&writing.body.json);
	if (!put_parents(&writing, &diff->a) || !put_texts(&writing, &diff->a, &names) ||
	    !put_values(&writing, &diff->a, STR("a_self"), false) ||
	    !put_values(&writing, &diff->a, STR("a_total"), true) ||
	    !put_values(&writing, &diff->b, STR("b_self"), false) ||
	    !put_values(&writing, &diff->b, STR("b_total"), true))
		return false;
	json_end_object(&writing.body.json);
	*ret_body = end(&writing, answer);
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
		put_text(json, STR("reason_word"), symbol->reason_word);
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

bool flame_table_report_write(const struct answer *answer, struct arena *arena, str *ret_body,
			      struct err *err)
{
	struct writing writing;
	struct flame_table table;

	if (!flame_table_build(answer->merge, arena, &table, err))
		return false;
	begin(&writing, answer, arena, err);
	put_number(&writing, STR("total"), table.total);
	json_key(&writing.body.json, STR("rows"));
	json_array(&writing.body.json);
	for (size_t i = 0; i < table.rows.len; i++) {
		const struct flame_row *row = &table.rows.items[i];

		put_row(&writing.body.json, answer->merge, &table.symbols[row->symbol], row);
		if (!within_memory(&writing))
			return false;
	}
	json_end_array(&writing.body.json);
	*ret_body = end(&writing, answer);
	return true;
}
