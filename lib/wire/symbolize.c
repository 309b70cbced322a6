// SPDX-License-Identifier: Apache-2.0
#include "wire/symbolize.h"

#include "base/map.h"
#include "base/vec.h"
#include "wire/protobuf_internal.h"

#include <symbolize.pb-c.h>

const char *const name_reason_names[NAME_REASON_COUNT] = { NAME_REASONS(NAMED_TEXT) };

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
	[NAME_NO_FILE] = "the address is in no file: generated code, or an unknown mapping",
	[NAME_NO_BUILD_ID] = "the file has no build id, so no debug file can be matched to it",
};

/* ---- writing ---- */

str symbolize_request_write(const struct symbolize_request *request, struct arena *arena)
{
	AUTO_ARENA scratch = { 0 };
	size_t count = request->binary_count;
	Decima__SymbolizeBinary *room = arena_array(&scratch, Decima__SymbolizeBinary, count);
	Decima__SymbolizeRequest message;

	decima__symbolize_request__init(&message);
	message.n_requests = count;
	message.requests = arena_array(&scratch, Decima__SymbolizeBinary *, count);
	for (size_t i = 0; i < count; i++) {
		const struct symbolize_binary *of = &request->binaries[i];

		decima__symbolize_binary__init(&room[i]);
		room[i].build_id = protobuf_bytes(of->build_id);
		room[i].n_addresses = of->address_count;
		room[i].addresses = (uint64_t *)(uintptr_t)of->addresses;
		message.requests[i] = &room[i];
	}
	return protobuf_pack(&message.base, arena);
}

/* The texts of a response being written, each once. */
struct string_table {
	struct arena *arena;
	struct map indexes; /* text -> its index, from 1; index 0 is the empty text */
	VEC(ProtobufCBinaryData) strings;
};

static uint32_t string_index(struct string_table *table, str text)
{
	if (!text.len)
		return 0;

	void **index = map_at(&table->indexes, text);

	if (!*index) {
		*index = (void *)(uintptr_t)table->strings.len;
		*vec_push(table->arena, &table->strings) = protobuf_bytes(text);
	}
	return (uint32_t)(uintptr_t)*index;
}

static void location_write(struct string_table *table, const struct symbolized_location *location,
			   Decima__SymbolizedLocation *message)
{
	size_t count = location->line_count;
	Decima__SymbolizedLine *room = arena_array(table->arena, Decima__SymbolizedLine, count);

	decima__symbolized_location__init(message);
	message->reason = location->reason;
	message->n_lines = count;
	message->lines = arena_array(table->arena, Decima__SymbolizedLine *, count);
	for (size_t i = 0; i < count; i++) {
		const struct symbolized_line *line = &location->lines[i];

		decima__symbolized_line__init(&room[i]);
		room[i].function = string_index(table, line->function);
		room[i].system_name = string_index(table, line->system_name);
		room[i].file = string_index(table, line->file);
		room[i].line = line->line;
		room[i].start_line = line->start_line;
		message->lines[i] = &room[i];
	}
}

static void binary_write(struct string_table *table, const struct symbolized_binary *binary,
			 Decima__SymbolizedBinary *message)
{
	size_t count = binary->location_count;
	Decima__SymbolizedLocation *room =
		arena_array(table->arena, Decima__SymbolizedLocation, count);

	decima__symbolized_binary__init(message);
	message->generation = binary->generation;
	message->reason = binary->reason;
	message->n_locations = count;
	message->locations = arena_array(table->arena, Decima__SymbolizedLocation *, count);
	for (size_t i = 0; i < count; i++) {
		location_write(table, &binary->locations[i], &room[i]);
		message->locations[i] = &room[i];
	}
}

str symbolize_response_write(const struct symbolize_response *response, struct arena *arena)
{
	AUTO_ARENA scratch = { 0 };
	struct string_table table = { .arena = &scratch, .indexes = { .arena = &scratch } };
	size_t count = response->binary_count;
	Decima__SymbolizedBinary *room = arena_array(&scratch, Decima__SymbolizedBinary, count);
	Decima__SymbolizeResponse message;

	decima__symbolize_response__init(&message);
	*vec_push(&scratch, &table.strings) = (ProtobufCBinaryData){ 0 };
	message.n_responses = count;
	message.responses = arena_array(&scratch, Decima__SymbolizedBinary *, count);
	for (size_t i = 0; i < count; i++) {
		binary_write(&table, &response->binaries[i], &room[i]);
		message.responses[i] = &room[i];
	}
	message.strings = table.strings.items;
	message.n_strings = table.strings.len;
	return protobuf_pack(&message.base, arena);
}

/* ---- reading ---- */

/* The messages have no recursive type, so protobuf-c's recursion is bounded; its memory has a
 * budget.
 */
static bool not_unpacked(const struct protobuf_budget *budget, const char *what, int max,
			 struct err *err)
{
	if (budget->is_exceeded)
		return err_set(err, ERR_LIMIT, "a %s that needs more than %d bytes of memory", what,
			       max);
	return err_set(err, ERR_INVALID, "not a %s", what);
}

static bool too_many(const char *what, size_t max, struct err *err)
{
	return err_set(err, ERR_LIMIT, "more than %zu %s in one request", max, what);
}

bool symbolize_request_read(str bytes, struct symbolize_request *ret_request, struct arena *arena,
			    struct err *err)
{
	struct protobuf_budget budget = { arena, SYMBOLIZE_REQUEST_MEMORY_MAX, false };
	ProtobufCAllocator allocator = protobuf_bounded_allocator(&budget);
	const Decima__SymbolizeRequest *message = decima__symbolize_request__unpack(
		&allocator, bytes.len, (const uint8_t *)bytes.ptr);
	size_t left = SYMBOLIZE_ADDRESSES_MAX;

	if (!message)
		return not_unpacked(&budget, "request for names", SYMBOLIZE_REQUEST_MEMORY_MAX,
				    err);
	if (message->n_requests > SYMBOLIZE_BINARIES_MAX)
		return too_many("build ids", SYMBOLIZE_BINARIES_MAX, err);

	struct symbolize_binary *binaries =
		arena_array(arena, struct symbolize_binary, message->n_requests);

	for (size_t i = 0; i < message->n_requests; i++) {
		const Decima__SymbolizeBinary *of = message->requests[i];

		if (of->n_addresses > left)
			return too_many("addresses", SYMBOLIZE_ADDRESSES_MAX, err);
		left -= of->n_addresses;
		binaries[i] = (struct symbolize_binary){ protobuf_str(of->build_id), of->addresses,
							 of->n_addresses };
	}
	*ret_request = (struct symbolize_request){ binaries, message->n_requests };
	return true;
}

/* A response being read. */
struct response_reader {
	struct arena *arena;
	const Decima__SymbolizeResponse *message;
	size_t locations_left, lines_left;
};

static bool text_read(const struct response_reader *reader, uint32_t index, str *ret_text)
{
	if (index && index >= reader->message->n_strings)
		return false;
	*ret_text = index ? protobuf_str(reader->message->strings[index]) : (str){ 0 };
	return true;
}

/* A newer symbolizer may send unknown reasons; do not treat them as final. */
static enum name_reason reason_of(uint32_t value)
{
	return value < NAME_REASON_COUNT ? (enum name_reason)value : NAME_UNAVAILABLE;
}

static bool location_read(struct response_reader *reader, const Decima__SymbolizedLocation *message,
			  struct symbolized_location *location)
{
	if (message->n_lines > reader->lines_left)
		return false;
	reader->lines_left -= message->n_lines;

	struct symbolized_line *lines =
		arena_array(reader->arena, struct symbolized_line, message->n_lines);

	for (size_t i = 0; i < message->n_lines; i++) {
		const Decima__SymbolizedLine *line = message->lines[i];

		if (!text_read(reader, line->function, &lines[i].function) ||
		    !text_read(reader, line->system_name, &lines[i].system_name) ||
		    !text_read(reader, line->file, &lines[i].file))
			return false;
		lines[i].line = line->line;
		lines[i].start_line = line->start_line;
	}
	*location =
		(struct symbolized_location){ lines, message->n_lines, reason_of(message->reason) };
	if (location->line_count)
		location->reason = NAME_KNOWN;
	else if (location->reason == NAME_KNOWN)
		location->reason = NAME_NO_SYMBOL;
	return true;
}

static bool binary_read(struct response_reader *reader, const Decima__SymbolizedBinary *message,
			struct symbolized_binary *binary)
{
	if (message->n_locations > reader->locations_left)
		return false;
	reader->locations_left -= message->n_locations;

	struct symbolized_location *locations =
		arena_array(reader->arena, struct symbolized_location, message->n_locations);

	for (size_t i = 0; i < message->n_locations; i++)
		if (!location_read(reader, message->locations[i], &locations[i]))
			return false;
	*binary = (struct symbolized_binary){ message->generation, reason_of(message->reason),
					      locations, message->n_locations };
	return true;
}

bool symbolize_response_read(str bytes, struct symbolize_response *ret_response,
			     struct arena *arena, struct err *err)
{
	struct protobuf_budget budget = { arena, SYMBOLIZE_RESPONSE_MEMORY_MAX, false };
	ProtobufCAllocator allocator = protobuf_bounded_allocator(&budget);

	if (bytes.len > SYMBOLIZE_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "a response of %zu bytes, limit %d", bytes.len,
			       SYMBOLIZE_BYTES_MAX);

	const Decima__SymbolizeResponse *message = decima__symbolize_response__unpack(
		&allocator, bytes.len, (const uint8_t *)bytes.ptr);

	if (!message)
		return not_unpacked(&budget, "response with names", SYMBOLIZE_RESPONSE_MEMORY_MAX,
				    err);
	if (message->n_responses > SYMBOLIZE_BINARIES_MAX)
		return err_set(err, ERR_INVALID, "not a response with names");

	struct response_reader reader = { arena, message, SYMBOLIZE_ADDRESSES_MAX,
					  SYMBOLIZE_LINES_MAX };
	struct symbolized_binary *binaries =
		arena_array(arena, struct symbolized_binary, message->n_responses);

	for (size_t i = 0; i < message->n_responses; i++)
		if (!binary_read(&reader, message->responses[i], &binaries[i]))
			return err_set(err, ERR_INVALID, "not a response with names");
	*ret_response = (struct symbolize_response){ binaries, message->n_responses };
	return true;
}
