// SPDX-License-Identifier: Apache-2.0
#include "profile/limits.h"
#include "wire/otlp_dictionary_internal.h"
#include "wire/otlp_table_internal.h"
#include "wire/otlp_value_internal.h"

#include <inttypes.h>

/* The table of each field number of ProfilesDictionary. */
static const enum otlp_table table_of_field[] = {
	[1] = OTLP_MAPPINGS, [2] = OTLP_LOCATIONS,  [3] = OTLP_FUNCTIONS, [4] = OTLP_LINKS,
	[5] = OTLP_STRINGS,  [6] = OTLP_ATTRIBUTES, [7] = OTLP_STACKS,
};
enum { DICTIONARY = 2 };        /* its field number in ProfilesData */
enum { SMALL_ENTRY_MAX = 512 }; /* bytes; the known fields have about 50 */

static const char *const table_names[OTLP_TABLE_COUNT] = {
	[OTLP_STRINGS] = "string",   [OTLP_FUNCTIONS] = "function",
	[OTLP_MAPPINGS] = "mapping", [OTLP_LOCATIONS] = "location",
	[OTLP_STACKS] = "stack",     [OTLP_ATTRIBUTES] = "attribute",
	[OTLP_LINKS] = "link",
};

static bool entry_add(struct otlp_decoder *decoder, const struct field *field)
{
	enum otlp_table table = table_of_field[field->number];
	struct otlp_slices *slices = &decoder->tables[table];

	if (table == OTLP_STRINGS && !otlp_text_check(decoder, field->bytes))
		return false;
	if (table == OTLP_STRINGS && slices->len == 0 && field->bytes.len)
		return otlp_reject(decoder, OTLP_INDEX,
				   "the first entry of the string table is not empty");
	slices->items[slices->len++] = field->bytes;
	return true;
}

/* Count the entries of one dictionary; or, without `counts`, add them to the tables. */
static bool dictionary_read(struct otlp_decoder *decoder, str dictionary, size_t *counts)
{
	struct reader r = reader_of(dictionary);
	struct field field = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("lllllll")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "table %" PRIu64
					   " of the dictionary has a wrong wire type",
					   field.number);
		if (field.number >= ARRAY_LEN(table_of_field))
			continue;
		if (counts)
			counts[table_of_field[field.number]]++;
		else if (!entry_add(decoder, &field))
			return false;
	}
	return otlp_end_check(decoder, &r, &field);
}

/* A message may hold several dictionaries, by concatenation: their tables are concatenated. */
static bool dictionaries_read(struct otlp_decoder *decoder, str message, size_t *counts)
{
	struct reader r = reader_of(message);
	struct field field = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("ll")))
			return otlp_reject(decoder, OTLP_MALFORMED, "not a message of profiles");
		if (field.number != DICTIONARY)
			continue;
		decoder->has_dictionary = true;
		if (!dictionary_read(decoder, field.bytes, counts))
			return false;
	}
	return otlp_end_check(decoder, &r, &field);
}

bool otlp_dictionary_index(struct otlp_decoder *decoder, str message)
{
	size_t counts[OTLP_TABLE_COUNT] = { 0 };

	if (!dictionaries_read(decoder, message, counts))
		return false;
	decoder->stack_scratch = arena_new(&decoder->scratch, struct otlp_stack_scratch);
	for (size_t i = 0; i < OTLP_TABLE_COUNT; i++) {
		if (counts[i] > MESSAGE_TABLE_MAX)
			return otlp_reject(decoder, OTLP_LIMIT, "%zu entries of the %s table",
					   counts[i], table_names[i]);
		decoder->tables[i].items = arena_array(&decoder->scratch, str, counts[i]);
		decoder->memo[i] = arena_array(&decoder->scratch, uint32_t, counts[i] + 1);
		if (!otlp_memory_check(decoder))
			return false;
	}
	return dictionaries_read(decoder, message, NULL);
}

bool otlp_entry(struct otlp_decoder *decoder, enum otlp_table table, uint64_t index, str *ret_entry)
{
	const struct otlp_slices *slices = &decoder->tables[table];

	if (index >= slices->len && index > 0)
		return otlp_reject(decoder, OTLP_INDEX,
				   "%s %" PRId64 " does not exist, the table has %zu entries",
				   table_names[table], (int64_t)index, slices->len);
	*ret_entry = index < slices->len ? slices->items[index] : (str){ 0 };
	return true;
}

bool otlp_small_entry(struct otlp_decoder *decoder, enum otlp_table table, uint64_t index,
		      str *ret_entry)
{
	if (!otlp_entry(decoder, table, index, ret_entry))
		return false;
	if (ret_entry->len > SMALL_ENTRY_MAX)
		return otlp_reject(decoder, OTLP_LIMIT, "an entry of %zu bytes in the %s table",
				   ret_entry->len, table_names[table]);
	return true;
}

/* The label name of a sample's attribute. It may also be one that the table lists for resources. */
static str label_name(struct otlp_decoder *decoder, str attribute)
{
	const struct label_source *source = label_source_by_attribute(attribute, true);

	if (!source)
		source = label_source_by_attribute(attribute, false);
	if (attribute.len > LABEL_NAME_MAX)
		return (str){ 0 };
	return source ? str_from(source->name)
		      : label_name_of_attribute(attribute, decoder->set->arena);
}

/* KeyValueAndUnit */
static bool attribute_decode(struct otlp_decoder *decoder, str bytes,
			     struct otlp_attribute *ret_attribute)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	str name = { 0 }, value = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("vlv")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field in the attribute table has a wrong wire type");
		if (field.number == 1 && !otlp_entry(decoder, OTLP_STRINGS, field.value, &name))
			return false;
		if (field.number == 2)
			value = field.bytes;
	}
	if (!otlp_end_check(decoder, &r, &field) ||
	    !otlp_attribute_of(decoder, name, value, ret_attribute))
		return false;
	ret_attribute->label = label_name(decoder, name);
	return true;
}

bool otlp_attribute_read(struct otlp_decoder *decoder, uint64_t index,
			 struct otlp_attribute *ret_attribute)
{
	uint32_t *memo = decoder->memo[OTLP_ATTRIBUTES];
	struct otlp_attribute attribute = { .dropped = true };
	str entry;

	if (!otlp_entry(decoder, OTLP_ATTRIBUTES, index, &entry))
		return false;
	if (index && memo[index]) {
		*ret_attribute = decoder->attributes.items[memo[index] - 1];
		return true;
	}
	if (index) {
		if (!attribute_decode(decoder, entry, &attribute))
			return false;
		*vec_push(&decoder->scratch, &decoder->attributes) = attribute;
		memo[index] = (uint32_t)decoder->attributes.len;
		if (!otlp_memory_check(decoder))
			return false;
	}
	*ret_attribute = attribute;
	return true;
}
