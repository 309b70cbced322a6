// SPDX-License-Identifier: Apache-2.0
/*
 * labels - for any names and values the set is sorted, has each name once with its last value, and
 * is equal to its copy.
 */
#include "base/reader.h"
#include "base/vec.h"
#include "profile/labels.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The last value of a name, by a linear search. */
static str last_value(const struct label *given, size_t len, str name)
{
	while (len-- > 0)
		if (str_eq(given[len].name, name))
			return given[len].value;
	return (str){ 0 };
}

static void check(struct labels labels, const struct label *given, size_t len)
{
	for (size_t i = 0; i < labels.len; i++) {
		str name = labels.items[i].name, value = labels.items[i].value;

		assert(i == 0 || str_compare(labels.items[i - 1].name, name) < 0);
		assert(str_eq(value, last_value(given, len, name)));
		assert(str_eq(value, labels_get(labels, name)));
	}
	for (size_t i = 0; i < len; i++)
		assert(str_eq(last_value(given, len, given[i].name),
			      labels_get(labels, given[i].name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { ENOUGH = 256 };
	AUTO_ARENA arena = { 0 };
	struct reader r = reader_of((str){ (const char *)data, size });
	struct buf hashed = { .arena = &arena }, hashed_again = { .arena = &arena };
	VEC(struct label) given = { 0 };

	while (reader_left(&r) && given.len < ENOUGH) {
		str name = reader_str_prefixed(&r), value = reader_str_prefixed(&r);

		*vec_push(&arena, &given) = (struct label){ name, value };
	}

	struct label *items = arena_array(&arena, struct label, given.len);

	for (size_t i = 0; i < given.len; i++)
		items[i] = given.items[i];

	struct labels labels = labels_of(items, given.len), copy = labels_copy(&arena, labels);

	check(labels, given.items, given.len);
	assert(labels_eq(labels, copy) && labels_compare(labels, copy) == 0);
	labels_hash_input(labels, &hashed);
	labels_hash_input(copy, &hashed_again);
	assert(str_eq(buf_bytes(&hashed), buf_bytes(&hashed_again)));
	assert(labels_get(labels_with_service_name(labels, &arena), STR("service_name")).len);
	for (size_t i = 0; i < labels.len; i++) {
		str name = label_name_of_attribute(labels.items[i].name, &arena);

		assert(name.len == labels.items[i].name.len &&
		       str_find(name, STR(".")) == SIZE_MAX);
	}
	return 0;
}
