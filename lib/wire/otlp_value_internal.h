// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_value - decodes attributes: names and AnyValues become text, arrays and lists become JSON.
 */
#pragma once

#include "wire/otlp_decoder_internal.h"

/* False: the text is not UTF-8 or holds a NUL; the message is rejected. */
bool otlp_text_check(struct otlp_decoder *decoder, str text);

/* Decode a KeyValue: its name (inline or an index) and the bytes of its AnyValue. */
bool otlp_key_value(struct otlp_decoder *decoder, str bytes, str *ret_name, str *ret_value);

/* Make an attribute of a name and an AnyValue. */
bool otlp_attribute_of(struct otlp_decoder *decoder, str name, str any_value,
		       struct otlp_attribute *ret_attribute);
