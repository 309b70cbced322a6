#include "unwind_cfi.h"

#include "dwarf_value.h"

#include <dwarf.h>

/* An entry of the section: a CIE or an FDE. */
struct entry {
	uint64_t at, end; /* in the section */
	str body;         /* what follows its id */
	bool is_common;
	uint64_t common_at; /* the FDE's CIE */
};

/* The unwind information of a function: an FDE. */
struct function {
	uint32_t start, end; /* from the rows' base */
	uint32_t at, len;    /* of its instructions, in the section */
	uint32_t common;     /* index */
	uint32_t order;      /* in the section */
};

struct work {
	const struct unwind_cfi *cfi;
	struct arena *arena;
	struct unwind_rows *rows;
	VEC(struct unwind_common) commons; /* sorted by where they are */
	VEC(struct function) functions;
	struct unwind_state remembered[UNWIND_REMEMBERED_MAX];
};

static bool too_much(const struct work *work, struct err *err)
{
	if (work->arena->held > work->cfi->memory_max)
		return !err_set(err, ERR_LIMIT, "its unwind rows need more than %ju bytes",
				(uintmax_t)work->cfi->memory_max);
	if (work->rows->rows.len > UNWIND_ROWS_MAX)
		return !err_set(err, ERR_LIMIT, "more than %d unwind rows", UNWIND_ROWS_MAX);
	return false;
}

/* The entry that begins here; false: the section ends. */
static bool entry_read(const struct unwind_section *section, uint64_t at, struct entry *ret_entry)
{
	struct reader r = reader_of(str_skip(section->bytes, at));
	uint64_t len = reader_u32(&r), id, none = section->is_eh ? 0 : UINT32_MAX;
	bool is_long = len == UINT32_MAX;

	if (is_long)
		len = reader_u64(&r);
	if (is_long && !section->is_eh)
		none = UINT64_MAX;
	if (r.failed || len > reader_left(&r))
		return false;

	str body = { r.rest.ptr, (size_t)len };
	uint64_t id_at = (uint64_t)(body.ptr - section->bytes.ptr);

	*ret_entry = (struct entry){ .at = at, .end = id_at + len };
	if (len == 0) /* where a linker thought that the section ends */
		return true;
	r = reader_of(body);
	id = is_long && !section->is_eh ? reader_u64(&r) : reader_u32(&r);
	if (r.failed)
		return true;
	ret_entry->body = r.rest;
	ret_entry->is_common = id == none;
	ret_entry->common_at = section->is_eh ? id_at - id : id;
	return true;
}

/* The letters of the augmentation say what its data are. */
static bool augmentation_read(struct reader *r, str letters, const struct unwind_section *section,
			      struct unwind_common *common)
{
	uint64_t address;
	struct reader data;

	if (letters.len == 0)
		return true;
	if (letters.ptr[0] != 'z')
		return false;
	common->has_augmentation = true;
	data = reader_of(reader_bytes(r, reader_varint(r)));
	for (size_t i = 1; i < letters.len; i++) {
		switch (letters.ptr[i]) {
		case 'R':
			common->encoding = reader_u8(&data);
			break;
		case 'P': {
			/* Indirect or not, it is as long. */
			uint8_t encoding = reader_u8(&data) & 0x0f;

			if (!unwind_pointer_read(&data, section, encoding, &address))
				return false;
			break;
		}
		case 'L':
			reader_u8(&data);
			break;
		case 'S':
			common->is_signal = true;
			break;
		case 'B': /* arm64: with which key return addresses are signed, and memory tagged */
		case 'G':
			break;
		default:
			return false;
		}
	}
	return !data.failed && !r->failed;
}

/* Of a CIE nobody understands it remains that it is there. */
static bool common_read(const struct work *work, const struct entry *entry,
			struct unwind_common *common, str *ret_instructions)
{
	const struct unwind_section *section = &work->cfi->section;
	struct reader r = reader_of(entry->body);
	uint8_t version = reader_u8(&r);
	str letters = dwarf_text(&r);

	if (version != 1 && version != 3 && version != 4)
		return false;
	if (version == 4 && (reader_u8(&r) != section->word_bytes || reader_u8(&r) != 0))
		return false; /* addresses of another size, or segments */
	common->code_align = reader_varint(&r);
	common->data_align = dwarf_sleb(&r);
	common->return_register = version == 1 ? reader_u8(&r) : reader_varint(&r);
	if (!augmentation_read(&r, letters, section, common))
		return false;
	*ret_instructions = r.rest;
	return !r.failed;
}

static void common_add(struct work *work, const struct entry *entry)
{
	struct unwind_common *common = vec_push(work->arena, &work->commons);
	struct unwind_program program = { .machine = work->cfi->machine,
					  .section = &work->cfi->section,
					  .common = common,
					  .remembered = work->remembered };

	*common = (struct unwind_common){ .at = entry->at, .encoding = DW_EH_PE_absptr };
	common->is_known = common_read(work, entry, common, &program.instructions) &&
			   unwind_program_common(&program);
}

static const struct unwind_common *common_at(const struct work *work, uint64_t at)
{
	size_t low = 0, high = work->commons.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (work->commons.items[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < work->commons.len && work->commons.items[low].at == at
		       ? &work->commons.items[low]
		       : NULL;
}

/* Whether all of it is code of the file. */
static bool is_code(const struct elf_file *elf, uint64_t start, uint64_t len)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (segment->executable && start >= segment->address &&
		    start - segment->address < segment->size &&
		    len <= segment->size - (start - segment->address))
			return true;
	}
	return false;
}

static void function_add(struct work *work, const struct entry *entry)
{
	const struct unwind_section *section = &work->cfi->section;
	const struct unwind_common *common = common_at(work, entry->common_at);
	struct reader r = reader_of(entry->body);
	uint64_t start, len;

	if (!common || !unwind_pointer_read(&r, section, common->encoding, &start) ||
	    !unwind_pointer_read(&r, section, common->encoding & 0x0f, &len))
		return;
	if (common->has_augmentation)
		reader_bytes(&r, reader_varint(&r));
	if (r.failed || len == 0 || !is_code(work->cfi->elf, start, len))
		return;
	start -= work->rows->base;
	*vec_push(work->arena, &work->functions) = (struct function){
		.start = (uint32_t)start,
		.end = (uint32_t)(start + len),
		.at = (uint32_t)(r.rest.ptr - section->bytes.ptr),
		.len = (uint32_t)reader_left(&r),
		.common = (uint32_t)(common - work->commons.items),
		.order = (uint32_t)work->functions.len,
	};
}

static bool entries_read(struct work *work, bool common, struct err *err)
{
	struct entry entry;

	for (uint64_t at = 0; entry_read(&work->cfi->section, at, &entry); at = entry.end) {
		if (entry.body.len && entry.is_common == common)
			(common ? common_add : function_add)(work, &entry);
		if (too_much(work, err))
			return false;
	}
	return true;
}

static int function_compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void functions_sort(struct work *work)
{
	struct function *items = work->functions.items;

	for (size_t i = 1; i < work->functions.len; i++)
		if (items[i].start < items[i - 1].start) {
			qsort(items, work->functions.len, sizeof(*items), function_compare);
			return;
		}
}

static void function_run(struct work *work, const struct function *function, uint32_t end)
{
	const struct unwind_section *section = &work->cfi->section;
	struct unwind_program program = {
		.machine = work->cfi->machine,
		.section = section,
		.common = &work->commons.items[function->common],
		.remembered = work->remembered,
		.instructions = { section->bytes.ptr + function->at, function->len },
		.start = function->start,
		.end = end,
	};

	unwind_rows_begin(work->rows, function->start);
	unwind_program_run(&program, work->rows);
	unwind_rows_end(work->rows, end);
}

bool unwind_cfi_rows(const struct unwind_cfi *cfi, struct arena *arena, struct unwind_rows *rows,
		     struct err *err)
{
	struct work *work = arena_new(arena, struct work);
	uint32_t last = UINT32_MAX;

	*work = (struct work){ .cfi = cfi, .arena = arena, .rows = rows };
	if (!entries_read(work, true, err) || !entries_read(work, false, err))
		return false;
	functions_sort(work);
	for (size_t i = 0; i < work->functions.len; i++) {
		const struct function *function = &work->functions.items[i];
		uint32_t end = function->end;

		if (function->start == last) /* the first one of them has been heard */
			continue;
		last = function->start;
		for (size_t k = i + 1; k < work->functions.len; k++)
			if (work->functions.items[k].start != last) {
				if (work->functions.items[k].start < end)
					end = work->functions.items[k].start;
				break;
			}
		function_run(work, function, end);
		if (too_much(work, err))
			return false;
	}
	return true;
}
