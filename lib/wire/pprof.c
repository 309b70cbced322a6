// SPDX-License-Identifier: Apache-2.0
#include "wire/pprof.h"

#include "base/buf.h"
#include "base/heap.h"
#include "base/map.h"
#include "pprof.pb-c.h"
#include "profile/limits.h"
#include "profile/profile_type.h"

#include <zlib.h>

/*
 * Interns everything that pprof references by number: strings by their bytes; functions, mappings,
 * locations and samples by their identifying fields. Ids start at 1; string 0 is "".
 */
struct builder {
	struct arena *arena; /* temporary memory, freed when the bytes are written */
	const struct sample_set *set;
	struct map strings, functions, mappings, samples;
	struct map inlines; /* locations of several frames, by the indexes of these frames */
	VEC(ProtobufCBinaryData) string_table;
	VEC(Pprof__Function *) function_table;
	VEC(Pprof__Mapping *) mapping_table;
	VEC(Pprof__Location *) location_table;
	VEC(Pprof__Sample *) sample_table;
	uint64_t *locations; /* locations of a single frame, by that frame; 0: not created yet */
	struct buf key;      /* of the item being looked up */
};

static ProtobufCBinaryData binary(str s)
{
	return (ProtobufCBinaryData){ .len = s.len, .data = (uint8_t *)(uintptr_t)s.ptr };
}

/* The slot of the key's value. A new key is copied into the arena. */
static void **slot_of(struct builder *builder, struct map *map, str key)
{
	void *found = map_get(map, key);

	return found ? map_at(map, key) : map_at(map, str_copy(builder->arena, key));
}

static int64_t string_id(struct builder *builder, str s)
{
	void **at = slot_of(builder, &builder->strings, s);

	if (!*at) {
		*vec_push(builder->arena, &builder->string_table) = binary(s);
		*at = (void *)builder->string_table.len; /* id + 1 */
	}
	return (int64_t)(uintptr_t)*at - 1;
}

static uint64_t function_id(struct builder *builder, const struct frame *frame)
{
	builder->key.len = 0;
	buf_str_prefixed(&builder->key, frame->function);
	buf_str_prefixed(&builder->key, frame->system_name);
	buf_str_prefixed(&builder->key, frame->file);
	buf_u32(&builder->key, frame->start_line);

	void **at = slot_of(builder, &builder->functions, buf_bytes(&builder->key));

	if (!*at) {
		Pprof__Function *function = arena_new(builder->arena, Pprof__Function);
		str system_name = frame->system_name.len ? frame->system_name : frame->function;

		pprof__function__init(function);
		*vec_push(builder->arena, &builder->function_table) = function;
		function->id = builder->function_table.len;
		function->name = string_id(builder, frame->function);
		function->system_name = string_id(builder, system_name);
		function->filename = string_id(builder, frame->file);
		function->start_line = frame->start_line;
		*at = function;
	}
	return ((Pprof__Function *)*at)->id;
}

/*
 * One mapping per binary. Addresses are addresses in the ELF file, so the mapping covers all of
 * them: memory_start 0 and offset 0 mean that a symbolizer must not convert them.
 */
static Pprof__Mapping *mapping_of(struct builder *builder, const struct frame *frame)
{
	builder->key.len = 0;
	buf_str_prefixed(&builder->key, frame->build_id);
	buf_str_prefixed(&builder->key, frame->path);

	void **at = slot_of(builder, &builder->mappings, buf_bytes(&builder->key));

	if (!*at) {
		Pprof__Mapping *mapping = arena_new(builder->arena, Pprof__Mapping);

		pprof__mapping__init(mapping);
		*vec_push(builder->arena, &builder->mapping_table) = mapping;
		mapping->id = builder->mapping_table.len;
		mapping->filename = string_id(builder, frame->path);
		mapping->build_id = string_id(builder, frame->build_id);
		*at = mapping;
	}
	return *at;
}

static Pprof__Line *line_of(struct builder *builder, const struct frame *frame)
{
	Pprof__Line *line = arena_new(builder->arena, Pprof__Line);

	pprof__line__init(line);
	line->function_id = function_id(builder, frame);
	line->line = frame->line;
	return line;
}

/*
 * has_functions, has_filenames and has_line_numbers are set only if all locations of the mapping
 * have them, because readers then do not symbolize the mapping.
 */
static void describe_mapping(Pprof__Mapping *mapping, bool is_new,
			     const struct frame *const *frames, size_t count)
{
	bool functions = true, filenames = true, line_numbers = true;

	for (size_t i = 0; i < count; i++) {
		functions = functions && frames[i]->function.len;
		filenames = filenames && frames[i]->file.len;
		line_numbers = line_numbers && frames[i]->line;
	}
	mapping->has_functions = functions && (is_new || mapping->has_functions);
	mapping->has_filenames = filenames && (is_new || mapping->has_filenames);
	mapping->has_line_numbers = line_numbers && (is_new || mapping->has_line_numbers);
	mapping->has_inline_frames = mapping->has_inline_frames || count > 1;
	if (mapping->memory_limit <= frames[0]->address)
		mapping->memory_limit = frames[0]->address + 1;
}

static uint64_t location_new(struct builder *builder, const struct frame *const *frames,
			     size_t count)
{
	Pprof__Location *location = arena_new(builder->arena, Pprof__Location);
	size_t mappings = builder->mapping_table.len;

	pprof__location__init(location);
	*vec_push(builder->arena, &builder->location_table) = location;
	location->id = builder->location_table.len;
	location->address = frames[0]->address;
	if (frames[0]->path.len || frames[0]->build_id.len) {
		Pprof__Mapping *mapping = mapping_of(builder, frames[0]);

		location->mapping_id = mapping->id;
		describe_mapping(mapping, builder->mapping_table.len > mappings, frames, count);
	}
	location->line = arena_array(builder->arena, Pprof__Line *, count);
	for (size_t i = 0; i < count; i++)
		if (frames[i]->function.len)
			location->line[location->n_line++] = line_of(builder, frames[i]);
	return location->id;
}

/* `indexes`: one frame and the frames inlined into it, innermost first. */
static uint64_t location_id(struct builder *builder, const uint32_t *indexes, size_t count)
{
	const struct frame *frames[STACK_DEPTH_MAX];
	uint64_t *alone = &builder->locations[indexes[0]];
	void **inlines = NULL;

	if (count == 1 && *alone)
		return *alone;
	if (count > 1) {
		str key = { (const char *)indexes, count * sizeof(*indexes) };

		inlines = slot_of(builder, &builder->inlines, key);
		if (*inlines)
			return (uint64_t)(uintptr_t)*inlines;
	}
	for (size_t i = 0; i < count; i++)
		frames[i] = &builder->set->frames.items[indexes[i]];

	uint64_t id = location_new(builder, frames, count);

	if (inlines)
		*inlines = (void *)(uintptr_t)id;
	else
		*alone = id;
	return id;
}

/* Our stacks are root first, and an inlined frame follows the frame it is inlined into. */
static void add_locations(struct builder *builder, Pprof__Sample *sample, struct stack stack)
{
	uint32_t indexes[STACK_DEPTH_MAX];
	size_t count = 0;

	sample->location_id = arena_array(builder->arena, uint64_t, stack.len);
	for (size_t i = stack.len; i-- > 0;) {
		indexes[count++] = stack.frames[i];
		if (i > 0 && builder->set->frames.items[stack.frames[i]].inlined &&
		    count < STACK_DEPTH_MAX)
			continue;
		sample->location_id[sample->n_location_id++] = location_id(builder, indexes, count);
		count = 0;
	}
}

static void add_labels(struct builder *builder, Pprof__Sample *sample, struct labels labels)
{
	for (size_t i = 0; i < labels.len; i++) {
		const struct label_source *source = label_source_by_name(labels.items[i].name);
		Pprof__Label *label = arena_new(builder->arena, Pprof__Label);
		int64_t number;

		pprof__label__init(label);
		label->key = string_id(builder, labels.items[i].name);
		if (source && source->is_int && str_to_i64(labels.items[i].value, &number) &&
		    number)
			label->num = number;
		else
			label->str = string_id(builder, labels.items[i].value);
		sample->label[sample->n_label++] = label;
	}
}

static Pprof__Sample *sample_new(struct builder *builder, struct stack stack,
				 struct labels of_series, struct labels of_sample)
{
	Pprof__Sample *sample = arena_new(builder->arena, Pprof__Sample);

	pprof__sample__init(sample);
	add_locations(builder, sample, stack);
	sample->value = arena_array(builder->arena, int64_t, 1);
	sample->n_value = 1;
	sample->label = arena_array(builder->arena, Pprof__Label *, of_series.len + of_sample.len);
	add_labels(builder, sample, of_series);
	add_labels(builder, sample, of_sample);
	*vec_push(builder->arena, &builder->sample_table) = sample;
	return sample;
}

static void add_sample(struct builder *builder, const struct sample *from,
		       const struct pprof_options *options)
{
	const struct sample_set *set = builder->set;
	struct labels of_series = { 0 }, of_sample = { 0 };

	if (options->series_labels)
		of_series = set->series.items[from->series].labels;
	if (options->sample_labels)
		of_sample = set->label_sets.items[from->labels];
	builder->key.len = 0;
	buf_u32(&builder->key, from->stack);
	buf_u32(&builder->key, options->series_labels ? from->series : 0);
	buf_u32(&builder->key, options->sample_labels ? from->labels : 0);

	void **at = slot_of(builder, &builder->samples, buf_bytes(&builder->key));

	if (!*at) {
		Pprof__Sample *sample =
			sample_new(builder, set->stacks.items[from->stack], of_series, of_sample);

		*at = sample;
	}
	((Pprof__Sample *)*at)->value[0] += from->value;
}

static Pprof__ValueType *value_type(struct builder *builder, str type, str unit)
{
	Pprof__ValueType *value = arena_new(builder->arena, Pprof__ValueType);

	pprof__value_type__init(value);
	value->type = string_id(builder, type);
	value->unit = string_id(builder, unit);
	return value;
}

static bool may_continue(const struct pprof_options *options)
{
	return !options->may_continue || options->may_continue(options->self);
}

/* With zlib's gzip header, in pieces between which the encoding may be ended. The input is in
 * memory, so an error can only be a bug of ours. */
static str compress_gzip(str bytes, const struct pprof_options *options, struct arena *arena)
{
	enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, PIECE = 1 << 20 };
	z_stream stream = { 0 };
	bool continues;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		heap_exhausted();

	uLong bound = deflateBound(&stream, (uLong)bytes.len);
	char *out = arena_array(arena, char, bound);

	stream.next_in = (Bytef *)(uintptr_t)bytes.ptr;
	stream.next_out = (Bytef *)out;
	stream.avail_out = (uInt)bound;
	while ((continues = may_continue(options)) && bytes.len > PIECE) {
		stream.avail_in = PIECE;
		bytes = str_skip(bytes, PIECE);
		if (deflate(&stream, Z_NO_FLUSH) != Z_OK)
			abort(); /* deflateBound() guarantees that the output fits */
	}
	stream.avail_in = (uInt)bytes.len;
	if (continues && deflate(&stream, Z_FINISH) != Z_STREAM_END)
		abort();
	deflateEnd(&stream);
	return continues ? (str){ out, stream.total_out } : (str){ 0 };
}

/* True for a program; false for a library, and for code that is in no file. */
static bool is_program(const struct builder *builder, const Pprof__Mapping *mapping)
{
	ProtobufCBinaryData bytes = builder->string_table.items[mapping->filename];
	str path = { (const char *)bytes.data, bytes.len };

	return str_starts_with(path, STR("/")) && !str_ends_with(path, STR(".so")) &&
	       str_find(path, STR(".so.")) == SIZE_MAX;
}

/* By id: the sum of the samples with a frame in the mapping. */
static uint64_t *mapping_sums(const struct builder *builder)
{
	uint64_t *sums = arena_array(builder->arena, uint64_t, builder->mapping_table.len + 1);

	for (size_t i = 0; i < builder->sample_table.len; i++) {
		const Pprof__Sample *sample = builder->sample_table.items[i];
		uint64_t last = 0;

		for (size_t k = 0; k < sample->n_location_id; k++) {
			uint64_t at = sample->location_id[k] - 1;
			uint64_t id = builder->location_table.items[at]->mapping_id;

			if (id && id != last)
				sums[id] += (uint64_t)sample->value[0];
			last = id;
		}
	}
	return sums;
}

/*
 * Readers take the first mapping for the program: it is the program with the largest sum. Without
 * one the first mapping stays, which can be the kernel.
 */
static void put_program_first(struct builder *builder)
{
	Pprof__Mapping **mappings = builder->mapping_table.items, *first;
	const uint64_t *sums = mapping_sums(builder);
	size_t best = 0;

	for (size_t id = 1; id <= builder->mapping_table.len; id++)
		if (is_program(builder, mappings[id - 1]) && (!best || sums[id] > sums[best]))
			best = id;
	if (best <= 1)
		return;
	first = mappings[0];
	mappings[0] = mappings[best - 1];
	mappings[best - 1] = first;
	mappings[0]->id = 1;
	first->id = best;
	for (size_t i = 0; i < builder->location_table.len; i++) {
		uint64_t *id = &builder->location_table.items[i]->mapping_id;

		*id = *id == 1 ? best : *id == best ? 1 : *id;
	}
}

static str pack(struct builder *builder, Pprof__Profile *profile,
		const struct pprof_options *options, struct arena *arena)
{
	put_program_first(builder);
	profile->sample = builder->sample_table.items;
	profile->n_sample = builder->sample_table.len;
	profile->mapping = builder->mapping_table.items;
	profile->n_mapping = builder->mapping_table.len;
	profile->location = builder->location_table.items;
	profile->n_location = builder->location_table.len;
	profile->function = builder->function_table.items;
	profile->n_function = builder->function_table.len;
	profile->string_table = builder->string_table.items;
	profile->n_string_table = builder->string_table.len;

	size_t room = pprof__profile__get_packed_size(profile);

	if (options->memory_max && builder->arena->size + 2 * room > options->memory_max)
		return (str){ 0 };

	char *bytes = arena_array(builder->arena, char, room + 1);
	size_t len = pprof__profile__pack(profile, (uint8_t *)bytes);

	/* The room for the worst case is temporary memory. */
	str compressed = compress_gzip((str){ bytes, len }, options, builder->arena);

	return compressed.ptr ? str_copy(arena, compressed) : compressed;
}

str pprof_write(const struct sample_set *set, const struct pprof_options *options,
		struct arena *arena)
{
	AUTO_ARENA scratch = { 0 };
	struct builder builder = {
		.arena = &scratch,
		.set = set,
		.strings.arena = &scratch,
		.functions.arena = &scratch,
		.mappings.arena = &scratch,
		.inlines.arena = &scratch,
		.samples.arena = &scratch,
		.key.arena = &scratch,
		.locations = arena_array(&scratch, uint64_t, set->frames.len),
	};
	Pprof__Profile profile;
	str type = options->type;

	(void)string_id(&builder, STR(""));
	pprof__profile__init(&profile);

	Pprof__ValueType *sample_type =
		value_type(&builder, profile_type_part(type, 1), profile_type_part(type, 2));

	profile.sample_type = &sample_type;
	profile.n_sample_type = 1;
	profile.period_type =
		value_type(&builder, profile_type_part(type, 3), profile_type_part(type, 4));
	profile.period = (int64_t)options->period;
	profile.time_nanos = (int64_t)(options->start_ms * 1000000);
	profile.duration_nanos = (int64_t)((options->end_ms - options->start_ms) * 1000000);
	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];

		if (str_eq(set->series.items[sample->series].type, type))
			add_sample(&builder, sample, options);
		if ((options->memory_max && scratch.size > options->memory_max) ||
		    (i % 256 == 0 && !may_continue(options)))
			return (str){ 0 };
	}
	return pack(&builder, &profile, options, arena);
}
