// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_labels - the labels that an OTLP message has for its series and samples. Pure.
 *
 *     if (!otlp_labels_of_resource(&labels, resource) ||
 *         !otlp_labels_of_profile(&labels, attributes, &of_profile) ||
 *         !otlp_labels_of_sample(&labels, &of_profile, attributes, link, &sample.labels) ||
 *         !otlp_labels_of_series(&labels, &series))
 *             ... the message is rejected
 *
 * Attributes of a resource apply to all its profiles, attributes of a profile to all its samples.
 * Memory: the labels are in the set's arena, the rest in the decoder's scratch arena.
 */
#pragma once

#include "base/map.h"
#include "profile/labels.h"
#include "wire/otlp_decoder_internal.h"

struct otlp_label_list {
	struct label items[LABELS_MAX];
	size_t len;
};

/* The labels that every sample of a profile has. */
struct otlp_profile_labels {
	struct otlp_label_list list;
	uint32_t base; /* the same labels as a label set of the sample_set */
};

struct otlp_labels {
	struct otlp_decoder *decoder;
	/* private */
	struct otlp_label_list of_series;  /* of the resource */
	struct otlp_label_list of_samples; /* of the resource, but labels of samples by the table */
	struct otlp_label_list of_sample;  /* of the sample being decoded */
	struct map label_sets;             /* a sample's attributes -> its label set + 1 */
	struct buf key;
};

void otlp_labels_init(struct otlp_labels *labels, struct otlp_decoder *decoder);

/* Start a resource without attributes; then add those of its Resource. */
void otlp_labels_begin(struct otlp_labels *labels);
bool otlp_labels_of_resource(struct otlp_labels *labels, str resource);

bool otlp_labels_of_series(struct otlp_labels *labels, struct labels *ret_labels);

/* `attributes`: varints, indexes into the attribute table. */
bool otlp_labels_of_profile(struct otlp_labels *labels, str attributes,
			    struct otlp_profile_labels *ret_labels);

/* `ret_labels`: the index of the label set in the sample_set. */
bool otlp_labels_of_sample(struct otlp_labels *labels, const struct otlp_profile_labels *profile,
			   str attributes, uint64_t link, uint32_t *ret_labels);
