// SPDX-License-Identifier: Apache-2.0
/*
 * labels - a set of names and values: what a series or a sample is found by.
 *
 * A set is sorted by the bytes of its names and holds each name once, so that equal sets are equal
 * byte for byte. Names are ours (`node`, `comm`, `pid`); one table says which attribute of OTLP
 * each comes from and whether it belongs to the series (indexed, few) or to the sample (inside a
 * chunk).
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

/* Where a label of ours lives in OTLP. */
struct label_source {
	const char *name;      /* ours */
	const char *attribute; /* OTLP's */
	bool of_sample;        /* a sample's attribute; else the resource's */
	bool is_int;           /* the attribute's value is an integer */
	const char *help;
};

/* The table, for the reader, the writer and the docs; and look-ups in it. NULL: not listed. */
extern const struct label_source label_sources[];
extern const size_t label_source_count;
const struct label_source *label_source_by_name(str name);
const struct label_source *label_source_by_attribute(str attribute, bool of_sample);

/* The label name of an attribute that the table does not list: dots become underscores. */
str label_name_of_attribute(str attribute, struct arena *arena);

/*
 * Names that begin with two underscores are not a label's: the store keeps pairs of its own under
 * them, Prometheus' tools theirs. Who takes labels from others leaves them out and counts them.
 */
bool label_name_is_reserved(str name);

/* Sort items in place and drop repeated names (the last given wins). */
struct labels labels_of(struct label *items, size_t len);

/* The value of a name, or an empty str with a NULL ptr. */
str labels_get(struct labels labels, str name);
bool labels_eq(struct labels a, struct labels b);
int labels_compare(struct labels a, struct labels b);
struct labels labels_copy(struct arena *arena, struct labels labels);

/* Append each name and value with its length before it: the input of every id. */
void labels_hash_input(struct labels labels, struct buf *buf);

/*
 * The same labels with `service_name`: where it is absent or empty, the first of compose_service,
 * container, unit, comm that is not; where none is, "unknown".
 */
struct labels labels_with_service_name(struct labels labels, struct arena *arena);
