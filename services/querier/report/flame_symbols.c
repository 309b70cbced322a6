// SPDX-License-Identifier: Apache-2.0
#include "querier/report/binary_name.h"
#include "querier/report/flame_symbols_internal.h"
#include "querier/report/frame_text_internal.h"
#include "wire/symbolize.h"

#include <assert.h>
#include <inttypes.h>

/*
 * One frame, group or [no stack] that needs a symbol. They are sorted by what distinguishes
 * symbols, so those of one name and binary, the *family*, are neighbours, and in a family those of
 * one build.
 */
struct pending {
	str name;
	struct unversioned_name binary;
	const struct frame *frame; /* NULL: a group, or [no stack] */
	str file;                  /* that distinguishes symbols of the family; else empty */
	uint32_t *place;           /* where the symbol's number is stored */
	uint8_t side;
	uint8_t reason; /* enum name_reason */
};

struct symbols_job {
	struct flame_symbols *symbols;
	enum frame_identity identity;
	struct arena *arena;
	struct pending *pending;
	size_t count;
	struct flame_symbol *items;
	struct flame_build *builds; /* by index in `pending` */
};

static bool has_function(const struct pending *pending)
{
	return pending->frame && pending->frame->function.len;
}

static struct unversioned_name binary_of(const struct symbols_job *job, const struct frame *frame)
{
	switch (job->identity) {
	case FRAME_OF_FUNCTION:
		if (frame->function.len)
			return (struct unversioned_name){ 0 };
		break;
	case FRAME_OF_PATH:
	case FRAME_OF_ADDRESS:
		return (struct unversioned_name){ .stem = frame->path };
	case FRAME_OF_BINARY:
	case FRAME_IDENTITY_COUNT:
		break;
	}
	return binary_unversioned(binary_base_name(frame->path));
}

static void add(struct symbols_job *job, struct pending pending)
{
	job->pending[job->count++] = pending;
}

static void add_frames(struct symbols_job *job, size_t side)
{
	const struct merge *merge = job->symbols->merges[side];
	size_t count = merge->set.frames.len;
	uint32_t *places = arena_array(job->arena, uint32_t, count);

	job->symbols->of_frame[side] = places;
	for (size_t i = 0; i < count; i++) {
		const struct frame *frame = &merge->set.frames.items[i];

		add(job, (struct pending){ .name = frame_text(frame, job->arena),
					   .binary = binary_of(job, frame),
					   .frame = frame,
					   .place = &places[i],
					   .side = (uint8_t)side,
					   .reason = (uint8_t)frame_reason(merge, i) });
	}
}

static str group_text(const struct merge *merge, struct labels labels, size_t i,
		      struct arena *arena)
{
	str name = merge->group_by->names[i];
	str value = labels_get(labels, name);

	return str_format(arena, STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value));
}

static void add_groups(struct symbols_job *job, size_t side)
{
	const struct merge *merge = job->symbols->merges[side];
	size_t by = merge->group_by->len, count = merge->set.label_sets.len * by;
	uint32_t *places = arena_array(job->arena, uint32_t, count);

	job->symbols->of_group[side] = places;
	for (size_t i = 0; i < count; i++)
		add(job,
		    (struct pending){ .name = group_text(merge, merge->set.label_sets.items[i / by],
							 i % by, job->arena),
				      .place = &places[i],
				      .side = (uint8_t)side });
}

static int compare_families(const struct pending *a, const struct pending *b)
{
	int order = str_compare(a->name, b->name);

	if (!order)
		order = str_compare(a->binary.stem, b->binary.stem);
	if (!order)
		order = str_compare(a->binary.suffix, b->binary.suffix);
	/* A function may have the name of an address, or of a group. */
	return order ? order : has_function(a) - has_function(b);
}

static int compare_builds(const struct pending *a, const struct pending *b)
{
	if (!a->frame || !b->frame)
		return (a->frame != NULL) - (b->frame != NULL);

	int order = str_compare(a->frame->build_id, b->frame->build_id);

	return order ? order : str_compare(a->frame->path, b->frame->path);
}

static int compare_addresses(const struct pending *a, const struct pending *b)
{
	uint64_t left = a->frame ? a->frame->address : 0, right = b->frame ? b->frame->address : 0;

	return (left > right) - (left < right);
}

static int compare_pending(const void *left, const void *right)
{
	const struct pending *a = left, *b = right;
	int order = compare_families(a, b);

	if (!order)
		order = str_compare(a->file, b->file);
	if (!order)
		order = compare_builds(a, b);
	return order ? order : compare_addresses(a, b);
}

/* By the file, its last byte first, so that files with the same end are neighbours. */
static int compare_file_ends(const void *left, const void *right)
{
	const struct pending *a = left, *b = right;
	int order = a->side - b->side;

	if (!order)
		order = str_compare(a->frame->build_id, b->frame->build_id);
	if (order)
		return order;

	str x = a->frame->file, y = b->frame->file;

	for (; x.len && y.len; x.len--, y.len--)
		if (x.ptr[x.len - 1] != y.ptr[y.len - 1])
			return x.ptr[x.len - 1] < y.ptr[y.len - 1] ? -1 : 1;
	return (x.len > y.len) - (x.len < y.len);
}

/* The last `components` components of a path. */
static str path_end(str path, size_t components)
{
	size_t begin = path.len;

	while (begin > 0 && (path.ptr[begin - 1] != '/' || --components > 0))
		begin--;
	return str_skip(path, begin);
}

static bool is_one_build(const struct pending *a, const struct pending *b)
{
	return a->side == b->side && str_eq(a->frame->build_id, b->frame->build_id);
}

/* How many components, from the end, distinguish the two files; they differ. */
static size_t components_that_differ(str a, str b)
{
	size_t components = 1;

	for (; a.len && b.len && a.ptr[a.len - 1] == b.ptr[b.len - 1]; a.len--, b.len--)
		components += a.ptr[a.len - 1] == '/';

	str longer = a.len ? a : b;
	bool is_end = a.len == 0 || b.len == 0; /* "f.c" and "src/f.c" */

	return components + (is_end && longer.ptr[longer.len - 1] == '/');
}

/*
 * If one build has functions of this name in several files, files distinguish them: the last
 * components of their paths, as few as distinguish those of each build, because the directory of a
 * build is another one in the next. Sorts the family.
 */
static void set_files(struct pending *family, size_t count)
{
	size_t components = 0;

	qsort(family, count, sizeof(*family), compare_file_ends);
	for (size_t i = 1; i < count; i++) {
		const struct pending *a = &family[i - 1], *b = &family[i];

		if (!is_one_build(a, b) || str_eq(a->frame->file, b->frame->file))
			continue;

		size_t needed = components_that_differ(a->frame->file, b->frame->file);

		if (needed > components)
			components = needed;
	}
	for (size_t i = 0; components && i < count; i++)
		family[i].file = path_end(family[i].frame->file, components);
	qsort(family, count, sizeof(*family), compare_pending);
}

/* a and b are of one family. */
static bool is_one_symbol(const struct symbols_job *job, const struct pending *a,
			  const struct pending *b)
{
	if (!str_eq(a->file, b->file))
		return false;
	if (!a->frame || !b->frame)
		return a->frame == b->frame;
	if (job->identity == FRAME_OF_ADDRESS)
		return compare_builds(a, b) == 0 && compare_addresses(a, b) == 0;
	return has_function(a) || str_eq(a->frame->build_id, b->frame->build_id);
}

/* The name of the binary of neighbours: see flame_symbols_internal.h. */
static str shown_binary(const struct symbols_job *job, const struct pending *pending, size_t count)
{
	const struct frame *first = pending->frame;
	bool is_path = job->identity == FRAME_OF_PATH || job->identity == FRAME_OF_ADDRESS;
	str name = binary_base_name(first->path);
	bool is_one_name = true;

	if (is_path)
		return first->path;
	for (size_t i = 1; i < count; i++) {
		str other = binary_base_name(pending[i].frame->path);

		if (binary_name_compare(name, other) != 0)
			return (str){ 0 };
		is_one_name = is_one_name && str_eq(name, other);
	}
	if (is_one_name)
		return name;

	struct unversioned_name unversioned = binary_unversioned(name);

	return str_format(job->arena, STR_FMT STR_FMT, STR_ARG(unversioned.stem),
			  STR_ARG(unversioned.suffix));
}

static str first_file(const struct pending *pending, size_t count)
{
	size_t i = 0;

	while (i + 1 < count && pending[i].frame->file.len == 0)
		i++;
	assert(pending[i].frame); /* a symbol is of frames only, or of none: is_one_symbol() */
	return pending[i].frame->file;
}

/* Neighbours in job->pending become one symbol. */
static struct flame_symbol symbol_of(const struct symbols_job *job, size_t at, size_t count)
{
	const struct pending *pending = &job->pending[at];
	const struct frame *frame = pending->frame;
	struct flame_symbol symbol = { .name = pending->name };

	if (!frame)
		return symbol;
	symbol.binary = shown_binary(job, pending, count);
	symbol.builds = &job->builds[at];
	symbol.build_count = count;
	if (frame->function.len)
		symbol.file = first_file(pending, count);
	if (!frame->function.len || job->identity == FRAME_OF_ADDRESS) {
		symbol.build_id = frame->build_id;
		symbol.address = str_format(job->arena, "0x%" PRIx64, frame->address);
	}
	if (!frame->function.len && pending->reason != NAME_KNOWN) {
		symbol.reason = str_from(name_reason_text[pending->reason]);
		symbol.reason_code = str_from(name_reason_names[pending->reason]);
	}
	return symbol;
}

static size_t family_len(const struct symbols_job *job, size_t at)
{
	size_t count = 1;

	while (at + count < job->count &&
	       compare_families(&job->pending[at], &job->pending[at + count]) == 0)
		count++;
	return count;
}

static void number_family(struct symbols_job *job, size_t at, size_t count)
{
	bool has_files = has_function(&job->pending[at]) && job->identity != FRAME_OF_FUNCTION;

	if (has_files && count > 1)
		set_files(&job->pending[at], count);
	for (size_t i = at, end = at + count, len; i < end; i += len) {
		for (len = 0;
		     i + len < end && is_one_symbol(job, &job->pending[i], &job->pending[i + len]);
		     len++) {
			const struct frame *frame = job->pending[i + len].frame;

			if (frame)
				job->builds[i + len] =
					(struct flame_build){ frame->path, frame->build_id };
			*job->pending[i + len].place = (uint32_t)job->symbols->len;
		}
		job->items[job->symbols->len++] = symbol_of(job, i, len);
	}
}

static size_t room_for(const struct flame_symbols *symbols, size_t count)
{
	size_t room = 1;

	for (size_t i = 0; i < count; i++) {
		const struct merge *merge = symbols->merges[i];

		room += merge->set.frames.len + merge->set.label_sets.len * merge->group_by->len;
	}
	return room;
}

bool flame_symbols_make(struct flame_symbols *symbols, struct merge *const *merges, size_t count,
			enum frame_identity identity, struct arena *arena, struct err *err)
{
	struct symbols_job job = { .symbols = symbols, .identity = identity, .arena = arena };
	size_t room;

	assert(count > 0 && count <= FLAME_SIDES_MAX);
	*symbols = (struct flame_symbols){ .len = 0 };
	for (size_t i = 0; i < count; i++)
		symbols->merges[i] = merges[i];
	room = room_for(symbols, count);
	job.pending = arena_array(arena, struct pending, room);
	for (size_t i = 0; i < count; i++) {
		add_frames(&job, i);
		add_groups(&job, i);
	}
	add(&job, (struct pending){ .name = NO_STACK, .place = &symbols->no_stack });
	if (!merge_within_memory(merges[count - 1], arena, err))
		return false;

	job.items = arena_array(arena, struct flame_symbol, room);
	job.builds = arena_array(arena, struct flame_build, room);
	symbols->items = job.items;
	qsort(job.pending, job.count, sizeof(*job.pending), compare_pending);
	for (size_t at = 0, len; at < job.count; at += len) {
		len = family_len(&job, at);
		number_family(&job, at, len);
		if (!merge_within_memory(merges[count - 1], arena, err))
			return false;
	}
	return true;
}
