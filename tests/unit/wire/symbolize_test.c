// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes are those of proto/symbolize.proto, which older peers decode and encode.
 */
#include "support/test.h"
#include "wire/protobuf_internal.h"
#include "wire/symbolize.h"

#include <symbolize.pb-c.h>

static const uint64_t addresses[] = { 0, 127, 128, 0x401126, UINT64_MAX };
static const struct symbolize_binary requested[] = {
	{ { "c0ffee00", 8 }, addresses, ARRAY_LEN(addresses) },
	{ { "", 0 }, NULL, 0 },
	{ { "htlhash:00", 10 }, addresses, 1 },
};
static const struct symbolize_request request = { requested, ARRAY_LEN(requested) };

#define LINE(function, system_name, file, line, start)                                        \
	{                                                                                     \
		{ function, sizeof(function) - 1 }, { system_name, sizeof(system_name) - 1 }, \
			{ file, sizeof(file) - 1 }, line, start                               \
	}

static const struct symbolized_line lines[] = {
	LINE("f(int)", "_Z1fi", "/src/a.c", 12, 10),
	LINE("main", "main", "/src/a.c", 4000000000u, 0),
	LINE("a\0b\xff", "x", "", 0, 0),
};
static const struct symbolized_location locations[] = {
	{ lines, 2, NAME_KNOWN },
	{ NULL, 0, NAME_NO_SYMBOL },
	{ lines + 2, 1, NAME_KNOWN },
};
static const struct symbolized_binary binaries[] = {
	{ 1787479200123, NAME_KNOWN, locations, ARRAY_LEN(locations) },
	{ 0, NAME_NO_DEBUG_INFO, NULL, 0 },
	{ 7, NAME_PENDING, locations + 1, 1 },
};
static const struct symbolize_response response = { binaries, ARRAY_LEN(binaries) };

static void decodes_the_request_that_it_encoded(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct symbolize_request got;
	struct err err;

	(void)state;
	assert_true(symbolize_request_read(symbolize_request_write(&request, &arena), &got, &arena,
					   &err));
	assert_int_equal(got.binary_count, ARRAY_LEN(requested));
	for (size_t i = 0; i < got.binary_count; i++) {
		assert_true(str_eq(got.binaries[i].build_id, requested[i].build_id));
		assert_int_equal(got.binaries[i].address_count, requested[i].address_count);
		for (size_t j = 0; j < requested[i].address_count; j++)
			assert_true(got.binaries[i].addresses[j] == requested[i].addresses[j]);
	}
}

static void lines_are_the_same(const struct symbolized_location *a,
			       const struct symbolized_location *b)
{
	assert_int_equal(a->line_count, b->line_count);
	assert_int_equal(a->reason, b->reason);
	for (size_t i = 0; i < a->line_count; i++) {
		assert_true(str_eq(a->lines[i].function, b->lines[i].function));
		assert_true(str_eq(a->lines[i].system_name, b->lines[i].system_name));
		assert_true(str_eq(a->lines[i].file, b->lines[i].file));
		assert_true(a->lines[i].line == b->lines[i].line);
		assert_true(a->lines[i].start_line == b->lines[i].start_line);
	}
}

static void decodes_the_response_that_it_encoded(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct symbolize_response got;
	struct err err;

	(void)state;
	assert_true(symbolize_response_read(symbolize_response_write(&response, &arena), &got,
					    &arena, &err));
	assert_int_equal(got.binary_count, ARRAY_LEN(binaries));
	for (size_t i = 0; i < got.binary_count; i++) {
		assert_true(got.binaries[i].generation == binaries[i].generation);
		assert_int_equal(got.binaries[i].reason, binaries[i].reason);
		assert_int_equal(got.binaries[i].location_count, binaries[i].location_count);
		for (size_t j = 0; j < binaries[i].location_count; j++)
			lines_are_the_same(&got.binaries[i].locations[j],
					   &binaries[i].locations[j]);
	}
}

static void protobuf_c_decodes_both(void **state)
{
	AUTO_ARENA arena = { 0 };
	ProtobufCAllocator allocator = protobuf_allocator(&arena);
	str bytes = symbolize_request_write(&request, &arena);
	const Decima__SymbolizeRequest *decoded = decima__symbolize_request__unpack(
		&allocator, bytes.len, (const uint8_t *)bytes.ptr);

	(void)state;
	assert_non_null(decoded);
	assert_int_equal(decoded->n_requests, 3);
	assert_true(str_eq(protobuf_str(decoded->requests[2]->build_id), requested[2].build_id));
	assert_true(decoded->requests[0]->n_addresses == 5 &&
		    decoded->requests[0]->addresses[4] == UINT64_MAX);
	assert_true(str_eq(protobuf_pack(&decoded->base, &arena), bytes));

	bytes = symbolize_response_write(&response, &arena);

	const Decima__SymbolizeResponse *decoded_response = decima__symbolize_response__unpack(
		&allocator, bytes.len, (const uint8_t *)bytes.ptr);

	assert_non_null(decoded_response);
	assert_int_equal(decoded_response->n_strings, 7); /* each text once, and the empty one */

	const Decima__SymbolizedLine *line = decoded_response->responses[0]->locations[0]->lines[1];

	assert_true(str_eq(protobuf_str(decoded_response->strings[line->function]), STR("main")));
	assert_true(line->function == line->system_name && line->line == 4000000000u);
	assert_int_equal(decoded_response->responses[2]->reason, NAME_PENDING);
	assert_true(str_eq(protobuf_pack(&decoded_response->base, &arena), bytes));
}

static void texts_may_follow_their_references_and_addresses_be_unpacked(void **state)
{
	/* a binary with a location with a line of function 1; then the strings */
	static const char late[] = "\x12\x06\x1a\x04\x0a\x02\x08\x01\x0a\x00\x0a\x01g";
	static const char unpacked[] = "\x0a\x08\x10\x05\x12\x02\x06\x07\x10\x08";
	AUTO_ARENA arena = { 0 };
	struct symbolize_response got;
	struct symbolize_request decoded;
	struct err err;

	(void)state;
	assert_true(symbolize_response_read((str){ late, sizeof(late) - 1 }, &got, &arena, &err));
	assert_true(str_eq(got.binaries[0].locations[0].lines[0].function, STR("g")));
	assert_true(symbolize_request_read((str){ unpacked, sizeof(unpacked) - 1 }, &decoded,
					   &arena, &err));
	assert_int_equal(decoded.binaries[0].address_count, 4);
	assert_true(decoded.binaries[0].addresses[0] == 5 && decoded.binaries[0].addresses[3] == 8);
}

static void every_truncation_is_rejected_or_decodes_to_less(void **state)
{
	AUTO_ARENA arena = { 0 };
	str whole = symbolize_response_write(&response, &arena);
	struct symbolize_response got;
	struct symbolize_request decoded;
	struct err err;

	(void)state;
	for (size_t len = 0; len < whole.len; len++)
		if (symbolize_response_read((str){ whole.ptr, len }, &got, &arena, &err))
			assert_true(got.binary_count < response.binary_count);
	whole = symbolize_request_write(&request, &arena);
	for (size_t len = 0; len < whole.len; len++)
		if (symbolize_request_read((str){ whole.ptr, len }, &decoded, &arena, &err))
			assert_true(decoded.binary_count < request.binary_count);
}

static void more_than_a_limit_is_rejected_with_the_limit(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct symbolize_binary many = { STR("c0ffee00"),
					 arena_array(&arena, uint64_t, SYMBOLIZE_ADDRESSES_MAX + 1),
					 SYMBOLIZE_ADDRESSES_MAX + 1 };
	struct symbolize_request too_many = { &many, 1 }, got;
	struct err err;

	(void)state;
	assert_false(symbolize_request_read(symbolize_request_write(&too_many, &arena), &got,
					    &arena, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_string_equal(err.msg, "more than 100000 addresses in one request");
	many.address_count--;
	assert_true(symbolize_request_read(symbolize_request_write(&too_many, &arena), &got, &arena,
					   &err));
	too_many.binary_count = SYMBOLIZE_BINARIES_MAX + 1;
	too_many.binaries = arena_array(&arena, struct symbolize_binary, too_many.binary_count);
	assert_false(symbolize_request_read(symbolize_request_write(&too_many, &arena), &got,
					    &arena, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

/* Two bytes for each empty binary, of which protobuf-c makes a struct of 72 bytes. */
static void memory_has_a_bound_before_the_counts_are_checked(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_ARENA decoded = { 0 };
	size_t len = SYMBOLIZE_REQUEST_MEMORY_MAX / 16;
	char *bytes = arena_array(&arena, char, len);
	struct symbolize_request got = { .binary_count = 7 };
	struct err err;

	(void)state;
	for (size_t i = 0; i < len; i += 2)
		bytes[i] = 0x0a;
	assert_false(symbolize_request_read((str){ bytes, len }, &got, &decoded, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_string_equal(err.msg,
			    "a request for names that needs more than 16777216 bytes of memory");
	assert_true(decoded.size < (size_t)SYMBOLIZE_REQUEST_MEMORY_MAX * 2);
	assert_int_equal(got.binary_count, 7);
}

static void an_index_outside_the_texts_is_rejected(void **state)
{
	static const char bad[] = "\x0a\x00\x12\x06\x1a\x04\x0a\x02\x08\x01";
	AUTO_ARENA arena = { 0 };
	struct symbolize_response got;
	struct err err;

	(void)state;
	assert_false(symbolize_response_read((str){ bad, sizeof(bad) - 1 }, &got, &arena, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

static void every_reason_has_a_name_and_a_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < NAME_REASON_COUNT; i++)
		assert_true(name_reason_names[i] && name_reason_text[i]);
}

RUN_TESTS(TEST(decodes_the_request_that_it_encoded), TEST(decodes_the_response_that_it_encoded),
	  TEST(protobuf_c_decodes_both),
	  TEST(texts_may_follow_their_references_and_addresses_be_unpacked),
	  TEST(every_truncation_is_rejected_or_decodes_to_less),
	  TEST(more_than_a_limit_is_rejected_with_the_limit),
	  TEST(memory_has_a_bound_before_the_counts_are_checked),
	  TEST(an_index_outside_the_texts_is_rejected),
	  TEST(every_reason_has_a_name_and_a_sentence))
