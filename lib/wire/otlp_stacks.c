// SPDX-License-Identifier: Apache-2.0
#include "profile/limits.h"
#include "wire/otlp_dictionary_internal.h"
#include "wire/otlp_stacks_internal.h"

/* The value of the first attribute of this name in a list; empty: there is none. */
static bool attribute_find(struct otlp_decoder *decoder, const struct otlp_packed *indexes,
			   str name, str *ret_value)
{
	struct reader r = reader_of(indexes->bytes);
	struct field field = { 0 };
	struct otlp_attribute attribute;
	uint64_t index;

	*ret_value = (str){ 0 };
	while (reader_left(&r) && field_varint(&r, &field, &index)) {
		if (!otlp_attribute_read(decoder, index, &attribute))
			return false;
		if (!attribute.dropped && str_eq(attribute.name, name)) {
			*ret_value = attribute.value;
			return true;
		}
	}
	return otlp_end_check(decoder, &r, &field);
}

/* GNU build ids are preferred, as most tools know them. Other kinds get a prefix. */
static bool build_id_find(struct otlp_decoder *decoder, const struct otlp_packed *attributes,
			  str *ret_build_id)
{
	static const struct {
		const char *attribute, *prefix;
	} kinds[] = {
		{ "process.executable.build_id.gnu", "" },
		{ "process.executable.build_id.go", "go:" },
		{ "process.executable.build_id.htlhash", "htlhash:" },
	};

	*ret_build_id = (str){ 0 };
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		str value;

		if (!attribute_find(decoder, attributes, str_from(kinds[i].attribute), &value))
			return false;
		if (!value.len)
			continue;
		*ret_build_id = value;
		if (*kinds[i].prefix)
			*ret_build_id = str_format(decoder->set->arena, "%s" STR_FMT,
						   kinds[i].prefix, STR_ARG(value));
		return true;
	}
	return true;
}

/* Truncate a name that is too long, at a character boundary. */
static bool name_read(struct otlp_decoder *decoder, uint64_t index, str *ret_name)
{
	if (!otlp_entry(decoder, OTLP_STRINGS, index, ret_name))
		return false;
	if (ret_name->len > NAME_MAX_BYTES) {
		ret_name->len = NAME_MAX_BYTES;
		while (((unsigned char)ret_name->ptr[ret_name->len] & 0xc0) == 0x80)
			ret_name->len--;
		decoder->result->counts[OTLP_NAME_TRUNCATED]++;
	}
	return true;
}

static bool mapping_decode(struct otlp_decoder *decoder, str bytes,
			   struct otlp_mapping *ret_mapping)
{
	struct otlp_packed attributes = { .more = { .arena = &decoder->scratch } };
	struct reader r = reader_of(bytes);
	struct field field = { 0 };

	*ret_mapping = (struct otlp_mapping){ 0 };
	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("vvvvp")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field in the mapping table has a wrong wire type");
		if (field.number == 4 && !name_read(decoder, field.value, &ret_mapping->path))
			return false;
		if (field.number == 5)
			otlp_packed_add(&attributes, &field);
	}
	return otlp_end_check(decoder, &r, &field) &&
	       build_id_find(decoder, &attributes, &ret_mapping->build_id);
}

static bool mapping_read(struct otlp_decoder *decoder, uint64_t index,
			 struct otlp_mapping *ret_mapping)
{
	uint32_t *memo;
	str entry;

	if (!otlp_entry(decoder, OTLP_MAPPINGS, index, &entry))
		return false;
	memo = &decoder->memo[OTLP_MAPPINGS][index];
	if (*memo) {
		*ret_mapping = decoder->mappings.items[*memo - 1];
		return true;
	}
	if (!mapping_decode(decoder, entry, ret_mapping))
		return false;
	*vec_push(&decoder->scratch, &decoder->mappings) = *ret_mapping;
	*memo = (uint32_t)decoder->mappings.len;
	return otlp_memory_check(decoder);
}

static bool function_decode(struct otlp_decoder *decoder, uint64_t index, struct frame *frame)
{
	struct reader r;
	struct field field = { 0 };
	str entry;

	if (!otlp_small_entry(decoder, OTLP_FUNCTIONS, index, &entry))
		return false;
	r = reader_of(entry);
	while (field_next(&r, &field)) {
		str *texts[] = { NULL, &frame->function, &frame->system_name, &frame->file };

		if (!field_fits(&field, STR("vvvv")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field in the function table has a wrong wire type");
		if (field.number == 4)
			frame->start_line = field.value <= UINT32_MAX ? (uint32_t)field.value : 0;
		else if (field.number < 4 && !name_read(decoder, field.value, texts[field.number]))
			return false;
	}
	return otlp_end_check(decoder, &r, &field);
}

static bool line_decode(struct otlp_decoder *decoder, str bytes, struct frame *frame)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("vvv")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field of a location's line has a wrong wire type");
		if (field.number == 1 && !function_decode(decoder, field.value, frame))
			return false;
		if (field.number == 2)
			frame->line = field.value <= UINT32_MAX ? (uint32_t)field.value : 0;
	}
	return otlp_end_check(decoder, &r, &field);
}

static bool location_decode(struct otlp_decoder *decoder, str bytes, struct otlp_location *location)
{
	struct reader r = reader_of(bytes);
	struct field field = { 0 };
	uint64_t mapping = 0;

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("vvlp")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field in the location table has a wrong wire type");
		if (field.number == 1) {
			mapping = field.value;
		} else if (field.number == 2) {
			location->address = field.value;
		} else if (field.number == 3) {
			if (location->line_count == STACK_DEPTH_MAX)
				return otlp_reject(decoder, OTLP_LIMIT,
						   "a location with more than %d lines",
						   STACK_DEPTH_MAX);
			location->lines[location->line_count++] = field.bytes;
		} else if (field.number == 4) {
			otlp_packed_add(&location->attributes, &field);
		}
	}
	return otlp_end_check(decoder, &r, &field) &&
	       mapping_read(decoder, mapping, &location->mapping);
}

/*
 * Add the frames of one location, the outermost first; the others were inlined into it.
 *
 * The address is used as an address in the ELF file, as our agent and OpenTelemetry's profiler send
 * it. A producer of runtime addresses would send a mapping with a runtime memory_start; this
 * function would have to convert such addresses.
 */
static bool location_frames_add(struct otlp_decoder *decoder, struct otlp_location *location)
{
	struct frame outer = { .path = location->mapping.path,
			       .build_id = location->mapping.build_id,
			       .address = location->address };

	if (!attribute_find(decoder, &location->attributes, STR("profile.frame.type"), &outer.type))
		return false;
	if (!outer.type.len)
		outer.type = STR("native");
	for (size_t i = location->line_count; i > 0; i--) {
		struct frame frame = outer;

		frame.inlined = i < location->line_count;
		if (!line_decode(decoder, location->lines[i - 1], &frame))
			return false;
		*vec_push(&decoder->scratch, &decoder->location_frames) =
			sample_set_frame(decoder->set, &frame);
	}
	if (!location->line_count)
		*vec_push(&decoder->scratch, &decoder->location_frames) =
			sample_set_frame(decoder->set, &outer);
	return true;
}

static bool location_read(struct otlp_decoder *decoder, uint64_t index,
			  struct otlp_range *ret_range)
{
	struct otlp_location *location = &decoder->stack_scratch->location;
	uint32_t *memo;
	str entry;

	if (!otlp_entry(decoder, OTLP_LOCATIONS, index, &entry))
		return false;
	memo = &decoder->memo[OTLP_LOCATIONS][index];
	if (*memo) {
		*ret_range = decoder->locations.items[*memo - 1];
		return true;
	}
	ret_range->first = (uint32_t)decoder->location_frames.len;
	location->attributes = (struct otlp_packed){ .more = { .arena = &decoder->scratch } };
	location->address = 0;
	location->line_count = 0;
	if (!location_decode(decoder, entry, location) || !location_frames_add(decoder, location))
		return false;
	ret_range->len = (uint32_t)decoder->location_frames.len - ret_range->first;
	*vec_push(&decoder->scratch, &decoder->locations) = *ret_range;
	*memo = (uint32_t)decoder->locations.len;
	return otlp_memory_check(decoder);
}

static void frames_add(struct otlp_stack_frames *stack, const uint32_t *frames, size_t len)
{
	while (len > 0) {
		if (stack->first == 0) {
			stack->is_truncated = true;
			return;
		}
		stack->frames[--stack->first] = frames[--len];
	}
}

static bool stack_collect(struct otlp_decoder *decoder, const struct otlp_packed *locations,
			  struct otlp_stack_frames *stack)
{
	struct reader r = reader_of(locations->bytes);
	struct field field = { 0 };
	struct otlp_range range;
	uint64_t index;

	while (reader_left(&r) && field_varint(&r, &field, &index)) {
		if (!location_read(decoder, index, &range))
			return false;
		frames_add(stack, decoder->location_frames.items + range.first, range.len);
	}
	return otlp_end_check(decoder, &r, &field);
}

static bool stack_decode(struct otlp_decoder *decoder, str bytes, uint32_t *ret_stack)
{
	struct otlp_packed locations = { .more = { .arena = &decoder->scratch } };
	struct otlp_stack_frames *stack = &decoder->stack_scratch->stack;
	struct reader r = reader_of(bytes);
	struct field field = { 0 };

	while (field_next(&r, &field)) {
		if (!field_fits(&field, STR("p")))
			return otlp_reject(decoder, OTLP_MALFORMED,
					   "a field in the stack table has a wrong wire type");
		if (field.number == 1)
			otlp_packed_add(&locations, &field);
	}
	stack->first = STACK_DEPTH_MAX;
	stack->is_truncated = false;
	if (!otlp_end_check(decoder, &r, &field) || !stack_collect(decoder, &locations, stack))
		return false;

	size_t len = STACK_DEPTH_MAX - stack->first;

	if (stack->is_truncated)
		stack->frames[0] = sample_set_frame(
			decoder->set,
			&(struct frame){ .type = STR(FRAME_TYPE_TRUNCATED),
					 .function = STR("[truncated: stack_truncated]") });
	decoder->result->counts[OTLP_STACK_TRUNCATED] += stack->is_truncated;
	decoder->stack_frames += len;
	if (decoder->stack_frames > MESSAGE_FRAMES_MAX)
		return otlp_reject(decoder, OTLP_LIMIT, "more than %d frames in all stacks",
				   MESSAGE_FRAMES_MAX);
	*ret_stack = sample_set_stack(decoder->set, stack->frames + stack->first, len);
	return true;
}

bool otlp_stack_read(struct otlp_decoder *decoder, uint64_t index, uint32_t *ret_stack)
{
	uint32_t *memo = decoder->memo[OTLP_STACKS];
	str entry;

	if (!otlp_entry(decoder, OTLP_STACKS, index, &entry))
		return false;
	if (!memo[index]) {
		if (!stack_decode(decoder, entry, ret_stack))
			return false;
		memo[index] = *ret_stack + 1;
	}
	*ret_stack = memo[index] - 1;
	return true;
}
