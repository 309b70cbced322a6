// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_value - decodes the attributes of a message: names and AnyValues become text.
 */
#pragma once

#include "profile/otlp_decoder.h"

/* Text of a stranger: UTF-8 without NUL, or the message is refused. */
bool otlp_text_check(struct otlp_decoder *decoder, str text);

/* KeyValue: its name, by either way of saying it, and the bytes of its AnyValue. */
bool otlp_key_value(struct otlp_decoder *decoder, str bytes, str *ret_name, str *ret_value);

/* An attribute of a name and an AnyValue. */
bool otlp_attribute_of(struct otlp_decoder *decoder, str name, str any_value,
		       struct otlp_attribute *ret_attribute);
