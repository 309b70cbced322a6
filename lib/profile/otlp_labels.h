// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_labels - what labels an OTLP message gives to its series and samples. Pure.
 *
 *     if (!otlp_labels_of_resource(&labels, resource) ||
 *         !otlp_labels_of_profile(&labels, attributes, &of_profile) ||
 *         !otlp_labels_of_sample(&labels, &of_profile, attributes, link, &sample.labels) ||
 *         !otlp_labels_of_series(&labels, &series))
 *             ... the message was refused
 *
 * What is true of a resource is true of all its profiles, what is of a profile of all its samples.
 */
#pragma once

#include "base/map.h"
#include "profile/labels.h"
#include "profile/otlp_decoder.h"

struct otlp_label_list {
	struct label items[LABELS_MAX];
	size_t len;
};

/* Those of every sample of a profile. */
struct otlp_profile_labels {
	struct otlp_label_list list;
	uint32_t base; /* they, as a label set */
};

struct otlp_labels {
	struct otlp_decoder *decoder;
	/* private */
	struct otlp_label_list of_series;  /* the resource's */
	struct otlp_label_list of_samples; /* the resource's, where the table says so */
	struct otlp_label_list of_sample;  /* the one that is being read */
	struct map label_sets;             /* from a sample's attributes to its label set + 1 */
	struct buf key;
};

void otlp_labels_init(struct otlp_labels *labels, struct otlp_decoder *decoder);

/* A resource begins, which has said nothing yet; then its Resource. */
void otlp_labels_begin(struct otlp_labels *labels);
bool otlp_labels_of_resource(struct otlp_labels *labels, str resource);

bool otlp_labels_of_series(struct otlp_labels *labels, struct labels *ret_labels);

/* `attributes`: indexes into the table of attributes, varints. */
bool otlp_labels_of_profile(struct otlp_labels *labels, str attributes,
			    struct otlp_profile_labels *ret_labels);

/* The index of its label set in the set of samples. */
bool otlp_labels_of_sample(struct otlp_labels *labels, const struct otlp_profile_labels *profile,
			   str attributes, uint64_t link, uint32_t *ret_labels);
