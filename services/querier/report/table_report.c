// SPDX-License-Identifier: Apache-2.0
#include "querier/report/table_report.h"

#include "profile/profile_type.h"
#include "querier/report/build_lists_internal.h"
#include "querier/report/flame_table_internal.h"
#include "querier/report/json_response.h"

struct table_writer {
	const struct report_input *input;
	struct flame_table table;
	struct build_lists lists;
	struct json_response body;
};

/* A text that a row always has, if its column is wanted. */
static void put_text(struct table_writer *writer, enum report_column column, str key, str text)
{
	if (!report_columns_has(writer->input->columns, column))
		return;
	json_key(&writer->body.json, key);
	json_str(&writer->body.json, text);
}

/* A text that a row has only if there is one. */
static void put_known(struct table_writer *writer, enum report_column column, str text)
{
	if (text.len)
		put_text(writer, column, str_from(report_column_names[column]), text);
}

static void put_builds(struct table_writer *writer, const struct flame_symbol *symbol)
{
	struct json *json = &writer->body.json;

	if (!report_columns_has(writer->input->columns, COLUMN_BUILDS))
		return;

	struct build_list list = writer->lists.items.items[build_lists_add(&writer->lists, symbol)];

	json_key(json, STR("builds"));
	json_array(json);
	for (size_t i = 0; i < list.count; i++) {
		json_array(json);
		json_str(json, list.builds[i].path);
		json_str(json, list.builds[i].build_id);
		json_end_array(json);
	}
	json_end_array(json);
}

static void put_number(struct json *json, str key, int64_t value)
{
	json_key(json, key);
	json_i64(json, value);
}

static void put_row(struct table_writer *writer, const struct flame_row *row)
{
	struct json *json = &writer->body.json;
	const struct merge *merge = writer->input->merge;
	const struct flame_symbol *symbol = &writer->table.symbols->items[row->symbol];

	json_object(json);
	put_text(writer, COLUMN_NAME, STR("function"), symbol->name);
	put_text(writer, COLUMN_BINARY, STR("binary"), symbol->binary);
	put_text(writer, COLUMN_FILE, STR("file"), symbol->file);
	put_known(writer, COLUMN_BUILD_ID, symbol->build_id);
	put_known(writer, COLUMN_ADDRESS, symbol->address);
	put_known(writer, COLUMN_REASON, symbol->reason);
	put_known(writer, COLUMN_REASON_CODE, symbol->reason_code);
	put_builds(writer, symbol);
	put_number(json, STR("self"), row->self);
	put_number(json, STR("total"), row->total);
	if (merge->group_by->len) {
		json_key(json, STR("labels"));
		json_response_labels(json, merge->set.label_sets.items[row->labels]);
	}
	json_end_object(json);
}

static bool put_rows(struct table_writer *writer, struct arena *arena, struct err *err)
{
	struct json *json = &writer->body.json;

	json_key(json, STR("rows"));
	json_array(json);
	for (size_t i = 0; i < writer->table.rows.len; i++) {
		put_row(writer, &writer->table.rows.items[i]);
		if (!merge_within_memory(writer->input->merge, arena, err))
			return false;
	}
	json_end_array(json);
	return true;
}

bool table_report_write(const struct report_input *input, struct arena *arena, str *ret_body,
			struct err *err)
{
	struct table_writer writer = { .input = input };
	struct json *json = &writer.body.json;
	struct flame_symbols symbols;

	if (!flame_symbols_make(&symbols, &input->merge, 1, input->identity, arena, err) ||
	    !flame_table_build(&symbols, arena, &writer.table, err))
		return false;
	build_lists_init(&writer.lists, arena);
	json_response_begin(&writer.body, arena);
	json_object(json);
	json_key(json, STR("unit"));
	json_str(json, profile_type_unit(input->type));
	put_number(json, STR("total"), writer.table.total);
	if (!put_rows(&writer, arena, err))
		return false;
	if (report_columns_has(input->columns, COLUMN_BUILDS))
		put_number(json, STR("builds_left_out"), (int64_t)writer.lists.left_out);
	json_end_object(json);
	json_response_warnings(json, input->warnings, input->warning_count);
	*ret_body = json_response_end(&writer.body, input->stats);
	return true;
}
