// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_dictionary - the tables of a message's dictionaries, indexed once; and the attribute table.
 */
#pragma once

#include "profile/otlp_decoder.h"

/* Index the tables of every dictionary in the message. */
bool otlp_dictionary_index(struct otlp_decoder *decoder, str message);

/* False: outside its table. Index 0 of an absent table is its zero value. */
bool otlp_entry(struct otlp_decoder *decoder, enum otlp_table table, uint64_t index,
		str *ret_entry);

bool otlp_small_entry(struct otlp_decoder *decoder, enum otlp_table table, uint64_t index,
		      str *ret_entry);

bool otlp_attribute_read(struct otlp_decoder *decoder, uint64_t index,
			 struct otlp_attribute *ret_attribute);
