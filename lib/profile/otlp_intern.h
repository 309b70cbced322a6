// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_intern - the dictionary of a message that is being written: each thing once, by index.
 *
 * Index 0 of every table is its zero value. What was never asked for is not in the dictionary, and
 * nothing is in it twice.
 */
#pragma once

#include "base/map.h"
#include "profile/otlp_table.h"
#include "profile/sample_set.h"

#include <profiles.pb-c.h>

/* A sample's labels, as the wire says them. */
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
	struct map maps[OTLP_TABLE_COUNT]; /* to the index; 0 needs no entry */
	VEC(ProtobufCBinaryData) strings;
	VEC(void *) messages[OTLP_TABLE_COUNT]; /* not of strings */
	int32_t *stacks;                        /* by index in the set: ours + 1 */
	struct otlp_label_refs *label_sets;
	struct buf key;
};

void otlp_intern_init(struct otlp_intern *intern, const struct sample_set *set,
		      struct arena *arena);
int32_t otlp_intern_string(struct otlp_intern *intern, str text);
int32_t otlp_intern_stack(struct otlp_intern *intern, uint32_t stack);
struct otlp_label_refs otlp_intern_labels(struct otlp_intern *intern, uint32_t label_set);

/* All that was interned, for packing. */
Otlp__ProfilesDictionary *otlp_intern_dictionary(struct otlp_intern *intern);

/* An attribute's value: an integer where the table says so and it is one, else text. */
Otlp__AnyValue *otlp_value_write(str text, bool is_int, struct arena *arena);
