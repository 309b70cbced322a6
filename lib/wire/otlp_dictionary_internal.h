// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_dictionary - the tables of a message's dictionary, and its attributes decoded.
 */
#pragma once

#include "wire/otlp_decoder_internal.h"

/* Index the tables of all dictionaries in the message. */
bool otlp_dictionary_index(struct otlp_decoder *decoder, str message);

/*
 * The bytes of an entry. False: the index is outside its table. Index 0 of an absent table is its
 * zero value, no bytes.
 */
bool otlp_entry(struct otlp_decoder *decoder, enum otlp_table table, uint64_t index,
		str *ret_entry);

/* The same for entries that are decoded each time they are referenced: long ones are rejected. */
bool otlp_small_entry(struct otlp_decoder *decoder, enum otlp_table table, uint64_t index,
		      str *ret_entry);

/* Decode an entry of the attribute table. Attribute 0 means no attribute. */
bool otlp_attribute_read(struct otlp_decoder *decoder, uint64_t index,
			 struct otlp_attribute *ret_attribute);
