// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_field - reads the fields of a protobuf message one by one, over the bounds-checked reader.
 *
 *     struct field field = { 0 };
 *     while (field_next(&r, &field))
 *             ...
 *     if (r.failed) the message ends inside a field, or, if field.is_malformed, is not protobuf
 */
#pragma once

#include "base/reader.h"

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LEN = 2, WIRE_FIXED32 = 5 };

struct field {
	uint64_t number;
	unsigned int wire;
	uint64_t value;    /* of a varint or fixed field */
	str bytes;         /* of a field with a length */
	bool is_malformed; /* the reader failed for another reason than the end of the bytes */
};

static inline bool field_broken(struct reader *r, struct field *field)
{
	field->is_malformed = true;
	reader_fail(r);
	return false;
}

/* If a varint fails although ten bytes were left, it is malformed, not truncated. */
static inline bool field_varint(struct reader *r, struct field *field, uint64_t *ret_value)
{
	size_t left = reader_left(r);

	*ret_value = reader_varint(r);
	if (r->failed && left >= 10)
		field->is_malformed = true;
	return !r->failed;
}

static inline bool field_next(struct reader *r, struct field *field)
{
	uint64_t tag, len;

	if (!reader_left(r) || !field_varint(r, field, &tag))
		return false;
	field->number = tag >> 3;
	field->wire = tag & 7;
	if (field->number == 0 || field->number >= 1u << 29)
		return field_broken(r, field);
	switch (field->wire) {
	case WIRE_VARINT:
		return field_varint(r, field, &field->value);
	case WIRE_FIXED64:
		field->value = reader_u64(r);
		return !r->failed;
	case WIRE_FIXED32:
		field->value = reader_u32(r);
		return !r->failed;
	case WIRE_LEN:
		if (!field_varint(r, field, &len))
			return false;
		if (len > reader_left(r)) {
			reader_fail(r);
			return false;
		}
		field->bytes = reader_bytes(r, (size_t)len);
		return true;
	default: /* 3 and 4 are groups, removed from protobuf; 6 and 7 never existed */
		return field_broken(r, field);
	}
}

/*
 * True if a field has the wire type that its number requires. `wires` has one letter for each
 * number from 1: v varint, 8 fixed64, l length, p varints (packed or not), P fixed64s (packed or
 * not). Higher numbers are unknown fields and always fit.
 */
static inline bool field_fits(const struct field *field, str wires)
{
	if (field->number > wires.len)
		return true;
	switch (wires.ptr[field->number - 1]) {
	case 'v':
		return field->wire == WIRE_VARINT;
	case '8':
		return field->wire == WIRE_FIXED64;
	case 'l':
		return field->wire == WIRE_LEN;
	case 'p':
		return field->wire == WIRE_LEN || field->wire == WIRE_VARINT;
	case 'P':
		return field->wire == WIRE_LEN || field->wire == WIRE_FIXED64;
	default:
		return true;
	}
}
