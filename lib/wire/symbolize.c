// SPDX-License-Identifier: Apache-2.0
/*
 * Encoded and decoded by hand, like OTLP (docs/decisions/0020): items are counted before memory is
 * allocated for them, and a response needs no tree of messages. Tested against protobuf-c.
 */
#include "wire/symbolize.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "wire/otlp_field_internal.h"

const char *const name_reason_names[NAME_REASON_COUNT] = {
	[NAME_KNOWN] = "known",
	[NAME_NO_DEBUG_INFO] = "no_debug_info",
	[NAME_NO_SYMBOL] = "no_symbol",
	[NAME_UNAVAILABLE] = "unavailable",
	[NAME_MALFORMED] = "malformed",
	[NAME_TOO_LARGE] = "too_large",
	[NAME_PENDING] = "pending",
	[NAME_BAD_BUILD_ID] = "bad_build_id",
	[NAME_NO_RESPONSE] = "no_response",
};

const char *const name_reason_text[NAME_REASON_COUNT] = {
	[NAME_KNOWN] = "",
	[NAME_NO_DEBUG_INFO] = "no debug info or executable with this build id is known",
	[NAME_NO_SYMBOL] = "the debug info has no symbol for this address",
	[NAME_UNAVAILABLE] = "the debuginfod server is unavailable",
	[NAME_MALFORMED] = "the debug info cannot be parsed",
	[NAME_TOO_LARGE] = "the debug info, or the work to read it, exceeds a limit",
	[NAME_PENDING] = "the debug info is being fetched or read: retry",
	[NAME_BAD_BUILD_ID] = "not a valid build id",
	[NAME_NO_RESPONSE] = "the symbolizer did not respond",
};

/* ---- writing ---- */

static void put_tag(struct buf *out, unsigned int number, enum wire wire)
{
	buf_varint(out, (uint64_t)number << 3 | wire);
}

static void put_number(struct buf *out, unsigned int number, uint64_t value)
{
	if (!value)
		return;
	put_tag(out, number, WIRE_VARINT);
	buf_varint(out, value);
}

static void put_bytes(struct buf *out, unsigned int number, str bytes)
{
	put_tag(out, number, WIRE_LEN);
	buf_str_prefixed(out, bytes);
}

str symbolize_request_write(const struct symbolize_request *request, struct arena *arena)
{
	AUTO_ARENA scratch = { 0 };
	struct buf out = { .arena = arena };
	struct buf binary = { .arena = &scratch }, packed = { .arena = &scratch };

	for (size_t i = 0; i < request->binary_count; i++) {
		const struct symbolize_binary *of = &request->binaries[i];

		binary.len = packed.len = 0;
		if (of->build_id.len)
			put_bytes(&binary, 1, of->build_id);
		for (size_t j = 0; j < of->address_count; j++)
			buf_varint(&packed, of->addresses[j]);
		if (packed.len)
			put_bytes(&binary, 2, buf_bytes(&packed));
		put_bytes(&out, 1, buf_bytes(&binary));
	}
	return buf_bytes(&out);
}

/* A response being written: a buffer for each depth, and the index of each text. */
struct response_writer {
	struct buf out, binaries, binary, location, line;
	struct map indexes; /* text -> its index, from 1; index 0 is the empty text */
	uint64_t string_count;
};

static uint64_t string_index(struct response_writer *writer, str text)
{
	if (!text.len)
		return 0;

	void **index = map_at(&writer->indexes, text);

	if (!*index) {
		*index = (void *)(uintptr_t)(writer->string_count++);
		put_bytes(&writer->out, 1, text);
	}
	return (uint64_t)(uintptr_t)*index;
}

static void write_location(struct response_writer *writer,
			   const struct symbolized_location *location)
{
	writer->location.len = 0;
	for (size_t i = 0; i < location->line_count; i++) {
		const struct symbolized_line *line = &location->lines[i];

		writer->line.len = 0;
		put_number(&writer->line, 1, string_index(writer, line->function));
		put_number(&writer->line, 2, string_index(writer, line->system_name));
		put_number(&writer->line, 3, string_index(writer, line->file));
		put_number(&writer->line, 4, line->line);
		put_number(&writer->line, 5, line->start_line);
		put_bytes(&writer->location, 1, buf_bytes(&writer->line));
	}
	put_number(&writer->location, 2, location->reason);
	put_bytes(&writer->binary, 3, buf_bytes(&writer->location));
}

str symbolize_response_write(const struct symbolize_response *response, struct arena *arena)
{
	AUTO_ARENA scratch = { 0 };
	struct response_writer writer = { .out = { .arena = arena },
					  .binaries = { .arena = &scratch },
					  .binary = { .arena = &scratch },
					  .location = { .arena = &scratch },
					  .line = { .arena = &scratch },
					  .indexes = { .arena = &scratch },
					  .string_count = 1 };

	put_bytes(&writer.out, 1, (str){ 0 });
	for (size_t i = 0; i < response->binary_count; i++) {
		const struct symbolized_binary *binary = &response->binaries[i];

		writer.binary.len = 0;
		put_number(&writer.binary, 1, binary->generation);
		put_number(&writer.binary, 2, binary->reason);
		for (size_t j = 0; j < binary->location_count; j++)
			write_location(&writer, &binary->locations[j]);
		put_bytes(&writer.binaries, 2, buf_bytes(&writer.binary));
	}
	buf_str(&writer.out, buf_bytes(&writer.binaries));
	return buf_bytes(&writer.out);
}

/* ---- reading ---- */

static bool too_many(const char *what, size_t max, struct err *err)
{
	return err_set(err, ERR_LIMIT, "more than %zu %s in one request", max, what);
}

/* Count the fields of that number; of packed numbers, each number. */
static bool count_fields(str bytes, uint64_t number, bool is_packed, size_t *ret_count)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	size_t count = 0;

	while (field_next(&r, &field)) {
		if (field.number != number)
			continue;
		if (!is_packed || field.wire == WIRE_VARINT) {
			count++;
			continue;
		}
		for (size_t i = 0; i < field.bytes.len; i++) /* the last byte of each */
			count += !((unsigned char)field.bytes.ptr[i] & 0x80);
	}
	*ret_count = count;
	return !r.failed;
}

/* One field with addresses, a single or packed ones. The array has the counted size. */
static bool read_addresses(const struct field *field, uint64_t *addresses, size_t *len)
{
	struct reader packed = reader_of(field->bytes);

	if (field->wire == WIRE_VARINT) {
		addresses[(*len)++] = field->value;
		return true;
	}
	while (reader_left(&packed)) {
		uint64_t address = reader_varint(&packed);

		if (packed.failed)
			return false;
		addresses[(*len)++] = address;
	}
	return true;
}

static bool read_binary(str bytes, struct symbolize_binary *binary, size_t *left,
			struct arena *arena, struct err *err)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	size_t count, len = 0;

	if (!count_fields(bytes, 2, true, &count))
		return err_set(err, ERR_INVALID, "not a request for names");
	if (count > *left)
		return too_many("addresses", SYMBOLIZE_ADDRESSES_MAX, err);
	*left -= count;

	uint64_t *addresses = arena_array(arena, uint64_t, count);

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("lp")) ||
		    (field.number == 2 && !read_addresses(&field, addresses, &len)))
			return err_set(err, ERR_INVALID, "not a request for names");
		if (field.number == 1)
			binary->build_id = field.bytes;
	}
	binary->addresses = addresses;
	binary->address_count = len;
	return true;
}

bool symbolize_request_read(str bytes, struct symbolize_request *ret_request, struct arena *arena,
			    struct err *err)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	size_t count, len = 0, left = SYMBOLIZE_ADDRESSES_MAX;

	if (!count_fields(bytes, 1, false, &count))
		return err_set(err, ERR_INVALID, "not a request for names");
	if (count > SYMBOLIZE_BINARIES_MAX)
		return too_many("build ids", SYMBOLIZE_BINARIES_MAX, err);

	struct symbolize_binary *binaries = arena_array(arena, struct symbolize_binary, count);

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("l")))
			return err_set(err, ERR_INVALID, "not a request for names");
		if (field.number == 1 &&
		    !read_binary(field.bytes, &binaries[len++], &left, arena, err))
			return false;
	}
	*ret_request = (struct symbolize_request){ binaries, len };
	return true;
}

/* A response being read. */
struct response_reader {
	struct arena *arena;
	VEC(str) strings;
	size_t locations_left, lines_left;
};

static bool malformed(struct err *err)
{
	return err_set(err, ERR_INVALID, "not a response with names");
}

static bool read_line(const struct response_reader *reader, str bytes, struct symbolized_line *line)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	str *const texts[] = { &line->function, &line->system_name, &line->file };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("vvvvv")))
			return false;
		if (field.number <= ARRAY_LEN(texts)) {
			if (field.value >= reader->strings.len)
				return false;
			*texts[field.number - 1] = reader->strings.items[field.value];
		}
		if (field.number == 4)
			line->line = (uint32_t)field.value;
		if (field.number == 5)
			line->start_line = (uint32_t)field.value;
	}
	return !r.failed;
}

/* A newer symbolizer may send unknown reasons; do not treat them as final. */
static enum name_reason reason_of(uint64_t value)
{
	return value < NAME_REASON_COUNT ? (enum name_reason)value : NAME_UNAVAILABLE;
}

static bool read_location(struct response_reader *reader, str bytes,
			  struct symbolized_location *location)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	size_t count;

	if (!count_fields(bytes, 1, false, &count) || count > reader->lines_left)
		return false;
	reader->lines_left -= count;

	struct symbolized_line *lines = arena_array(reader->arena, struct symbolized_line, count);

	location->lines = lines;
	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("lv")) ||
		    (field.number == 1 &&
		     !read_line(reader, field.bytes, &lines[location->line_count++])))
			return false;
		if (field.number == 2)
			location->reason = reason_of(field.value);
	}
	if (!location->line_count && location->reason == NAME_KNOWN)
		location->reason = NAME_NO_SYMBOL;
	if (location->line_count)
		location->reason = NAME_KNOWN;
	return true;
}

static bool read_symbolized(struct response_reader *reader, str bytes,
			    struct symbolized_binary *binary)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	size_t count;

	if (!count_fields(bytes, 3, false, &count) || count > reader->locations_left)
		return false;
	reader->locations_left -= count;

	struct symbolized_location *locations =
		arena_array(reader->arena, struct symbolized_location, count);

	binary->locations = locations;
	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("vvl")) ||
		    (field.number == 3 &&
		     !read_location(reader, field.bytes, &locations[binary->location_count++])))
			return false;
		if (field.number == 1)
			binary->generation = field.value;
		if (field.number == 2)
			binary->reason = reason_of(field.value);
	}
	return true;
}

/* Read all texts first: they may follow the lines that reference them. */
static bool read_strings(struct response_reader *reader, str bytes, size_t *ret_binaries)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("ll")))
			return false;
		if (field.number == 1)
			*vec_push(reader->arena, &reader->strings) = field.bytes;
		*ret_binaries += field.number == 2;
	}
	return !r.failed;
}

bool symbolize_response_read(str bytes, struct symbolize_response *ret_response,
			     struct arena *arena, struct err *err)
{
	struct response_reader reader = { .arena = arena,
					  .locations_left = SYMBOLIZE_ADDRESSES_MAX,
					  .lines_left = SYMBOLIZE_LINES_MAX };
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	size_t count = 0, len = 0;

	if (bytes.len > SYMBOLIZE_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "a response of %zu bytes, limit %d", bytes.len,
			       SYMBOLIZE_BYTES_MAX);
	if (!read_strings(&reader, bytes, &count) || count > SYMBOLIZE_BINARIES_MAX)
		return malformed(err);

	struct symbolized_binary *binaries = arena_array(arena, struct symbolized_binary, count);

	while (field_next(&r, &field))
		if (field.number == 2 && !read_symbolized(&reader, field.bytes, &binaries[len++]))
			return malformed(err);
	*ret_response = (struct symbolize_response){ binaries, len };
	return true;
}
