// SPDX-License-Identifier: Apache-2.0
/*
 * labels - a set of names with values, which identifies a series or describes a sample.
 *
 * A set is sorted by the bytes of its names and holds each name once, so equal sets are equal byte
 * for byte. Names are ours (`node`, `comm`, `pid`). The table label_sources lists which OTLP
 * attribute each name comes from, and whether the label belongs to the series (few and indexed) or
 * to the sample (stored inside a chunk). No function fails. Any thread.
 */
#pragma once

#include "base/buf.h"

struct label {
	str name, value;
};

struct labels {
	const struct label *items;
	size_t len;
};

/* The OTLP attribute of a label. */
struct label_source {
	const char *name;      /* ours */
	const char *attribute; /* OTLP's */
	bool of_sample;        /* an attribute of the sample; false: of the resource */
	bool is_int;           /* the attribute's value is an integer */
	const char *help;
};

/* The table, and look-ups in it. NULL: the table does not list it. */
extern const struct label_source label_sources[];
extern const size_t label_source_count;
const struct label_source *label_source_by_name(str name);
const struct label_source *label_source_by_attribute(str attribute, bool of_sample);

/* The label name of an attribute that is not in the table: dots become underscores. */
str label_name_of_attribute(str attribute, struct arena *arena);

/*
 * Names that begin with two underscores are reserved: the store and Prometheus' tools use them for
 * pairs of their own. A caller that receives labels from outside must drop and count them.
 */
bool label_name_is_reserved(str name);

/* Sort the items in place. Of items with the same name only the last one stays. The result borrows
 * `items`. */
struct labels labels_of(struct label *items, size_t len);

/* The value of a name; if the name is absent, an empty str with a NULL ptr. */
str labels_get(struct labels labels, str name);
bool labels_eq(struct labels a, struct labels b);
int labels_compare(struct labels a, struct labels b);
/* Copy the array and all texts into the arena. */
struct labels labels_copy(struct arena *arena, struct labels labels);

/* Append each name and value, each preceded by its length. Ids are hashes of these bytes. */
void labels_hash_input(struct labels labels, struct buf *buf);

/*
 * The same labels with a `service_name`. If it is absent or empty, it becomes the first non-empty
 * of compose_service, container, unit and comm; if all of these are empty, "unknown". Texts are
 * borrowed from `labels`; a new array is in the arena.
 */
struct labels labels_with_service_name(struct labels labels, struct arena *arena);
