// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_intern - builds the dictionary of a message being written: each entry once, by index.
 *
 * Index 0 of every table is its zero value. Only entries that were interned are in the dictionary.
 * All memory is in the arena of otlp_intern_init(); texts are borrowed from the set.
 */
#pragma once

#include "base/map.h"
#include "profile/sample_set.h"
#include "wire/otlp_table_internal.h"

#include <profiles.pb-c.h>

/* A label set as the wire stores it: indexes of attributes, and a link. */
struct otlp_label_refs {
	int32_t *attributes;
	size_t len;
	int32_t link;
	bool is_known;
};

struct otlp_intern {
	struct arena *arena;
	const struct sample_set *set;
	Otlp__ProfilesDictionary message;
	/* private */
	struct map maps[OTLP_TABLE_COUNT]; /* key -> index; index 0 has no entry */
	VEC(ProtobufCBinaryData) strings;
	VEC(void *) messages[OTLP_TABLE_COUNT]; /* unused for strings */
	int32_t *stacks;                        /* by index in the set: the written index + 1 */
	struct otlp_label_refs *label_sets;
	struct buf key;
};

void otlp_intern_init(struct otlp_intern *intern, const struct sample_set *set,
		      struct arena *arena);
int32_t otlp_intern_string(struct otlp_intern *intern, str text);
int32_t otlp_intern_stack(struct otlp_intern *intern, uint32_t stack);
struct otlp_label_refs otlp_intern_labels(struct otlp_intern *intern, uint32_t label_set);

/* The dictionary of everything interned so far, for packing. */
Otlp__ProfilesDictionary *otlp_intern_dictionary(struct otlp_intern *intern);

/* The value of an attribute: an integer if `is_int` and the text is one, else a string. */
Otlp__AnyValue *otlp_value_write(str text, bool is_int, struct arena *arena);
