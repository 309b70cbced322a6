// SPDX-License-Identifier: Apache-2.0
#include "profile/limits.h"
#include "wire/otlp_dictionary_internal.h"
#include "wire/otlp_labels_internal.h"
#include "wire/otlp_value_internal.h"

void otlp_labels_init(struct otlp_labels *labels, struct otlp_decoder *decoder)
{
	*labels = (struct otlp_labels){ .decoder = decoder,
					.label_sets = { .arena = &decoder->scratch },
					.key = { .arena = &decoder->scratch } };
}

void otlp_labels_begin(struct otlp_labels *labels)
{
	labels->of_series.len = labels->of_samples.len = 0;
}

/* A label without a value equals an absent label: skip it. */
static bool label_add(struct otlp_labels *labels, struct otlp_label_list *list, str name, str value)
{
	if (!name.len || !value.len)
		return true;
	if (list->len == LABELS_MAX)
		return otlp_reject(labels->decoder, OTLP_LIMIT, "more than %d labels of one %s",
				   LABELS_MAX, list == &labels->of_series ? "series" : "sample");
	list->items[list->len++] = (struct label){ name, value };
	return true;
}

static struct labels labels_store(struct otlp_labels *labels, const struct otlp_label_list *list)
{
	struct label *items = arena_array(labels->decoder->set->arena, struct label, list->len + 1);

	memcpy(items, list->items, list->len * sizeof(*items));
	return labels_of(items, list->len);
}

/*
 * A resource's attribute belongs to the series, unless the table lists it for samples: with a pid
 * as a label of the series, every process would be a series.
 */
static bool resource_label_add(struct otlp_labels *labels, const struct otlp_attribute *attribute)
{
	const struct label_source *of_sample = label_source_by_attribute(attribute->name, true);
	const struct label_source *of_series = label_source_by_attribute(attribute->name, false);

	if (attribute->dropped)
		return true;
	if (of_sample)
		return label_add(labels, &labels->of_samples, str_from(of_sample->name),
				 attribute->value);
	return label_add(
		labels, &labels->of_series,
		of_series ? str_from(of_series->name)
			  : label_name_of_attribute(attribute->name, labels->decoder->set->arena),
		attribute->value);
}

bool otlp_labels_of_resource(struct otlp_labels *labels, str resource)
{
	struct otlp_decoder *decoder = labels->decoder;
	struct reader r = reader_of(resource);
	struct field field = { 0 };
	struct otlp_attribute attribute;
	str name, value;

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("lv")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field of a resource has a wrong wire type");
		if (field.number != 1)
			continue;
		if (!otlp_key_value(decoder, field.bytes, &name, &value) ||
		    !otlp_attribute_of(decoder, name, value, &attribute) ||
		    !resource_label_add(labels, &attribute))
			return false;
	}
	return otlp_end_check(decoder, &r, &field);
}

static bool attributes_add(struct otlp_labels *labels, struct otlp_label_list *list, str indexes)
{
	struct otlp_decoder *decoder = labels->decoder;
	struct reader r = reader_of(indexes);
	struct field field = { 0 };
	struct otlp_attribute attribute;
	uint64_t index;

	while (reader_left(&r) && field_varint(&r, &field, &index)) {
		if (!otlp_attribute_read(decoder, index, &attribute))
			return false;
		if (!attribute.dropped &&
		    !label_add(labels, list, attribute.label, attribute.value))
			return false;
	}
	return otlp_end_check(decoder, &r, &field);
}

static bool id_label_add(struct otlp_labels *labels, struct otlp_label_list *list, str name, str id)
{
	bool is_zero = true;

	if (id.len > LABEL_VALUE_MAX / 2)
		return otlp_reject(labels->decoder, OTLP_LIMIT, "a link's id of %zu bytes", id.len);
	for (size_t i = 0; i < id.len; i++)
		is_zero &= id.ptr[i] == 0;
	if (is_zero)
		return true;
	return label_add(labels, list, name, str_hex(labels->decoder->set->arena, id));
}

static bool link_add(struct otlp_labels *labels, struct otlp_label_list *list, uint64_t index)
{
	struct otlp_decoder *decoder = labels->decoder;
	struct field field = { 0 };
	struct reader r;
	str entry, trace = { 0 }, span = { 0 };

	if (!otlp_small_entry(decoder, OTLP_LINKS, index, &entry))
		return false;
	r = reader_of(entry);
	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("ll")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field in the link table has a wrong wire type");
		if (field.number == 1)
			trace = field.bytes;
		else if (field.number == 2)
			span = field.bytes;
	}
	return otlp_end_check(decoder, &r, &field) &&
	       id_label_add(labels, list, STR("trace_id"), trace) &&
	       id_label_add(labels, list, STR("span_id"), span);
}

/* Labels of the resource, the profile, then the sample: of equal names the last one wins. */
static bool label_set_make(struct otlp_labels *labels, const struct otlp_profile_labels *profile,
			   str attributes, uint64_t link, uint32_t *ret_labels)
{
	struct otlp_label_list *list = &labels->of_sample;

	memcpy(list->items, profile->list.items, profile->list.len * sizeof(*list->items));
	list->len = profile->list.len;
	if (!attributes_add(labels, list, attributes) || (link && !link_add(labels, list, link)))
		return false;
	*ret_labels = sample_set_labels(labels->decoder->set, labels_store(labels, list));
	return true;
}

/* The cache key is the encoded attributes: equal bytes mean equal labels. */
bool otlp_labels_of_sample(struct otlp_labels *labels, const struct otlp_profile_labels *profile,
			   str attributes, uint64_t link, uint32_t *ret_labels)
{
	labels->key.len = 0;
	buf_u32(&labels->key, profile->base);
	buf_varint(&labels->key, link);
	buf_str(&labels->key, attributes);

	void *cached = map_get(&labels->label_sets, buf_bytes(&labels->key));

	if (cached) {
		*ret_labels = (uint32_t)(uintptr_t)cached - 1;
		return true;
	}
	if (!label_set_make(labels, profile, attributes, link, ret_labels))
		return false;
	*map_at(&labels->label_sets, str_copy(&labels->decoder->scratch, buf_bytes(&labels->key))) =
		(void *)(uintptr_t)(*ret_labels + 1);
	return otlp_memory_check(labels->decoder);
}

bool otlp_labels_of_profile(struct otlp_labels *labels, str attributes,
			    struct otlp_profile_labels *ret_labels)
{
	ret_labels->list = labels->of_samples;
	if (!attributes_add(labels, &ret_labels->list, attributes))
		return false;
	ret_labels->base =
		sample_set_labels(labels->decoder->set, labels_store(labels, &ret_labels->list));
	return true;
}

bool otlp_labels_of_series(struct otlp_labels *labels, struct labels *ret_labels)
{
	*ret_labels = labels_with_service_name(labels_store(labels, &labels->of_series),
					       labels->decoder->set->arena);
	if (ret_labels->len > LABELS_MAX)
		return otlp_reject(labels->decoder, OTLP_LIMIT, "more than %d labels of one series",
				   LABELS_MAX);
	return true;
}
