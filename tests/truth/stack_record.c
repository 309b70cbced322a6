// SPDX-License-Identifier: Apache-2.0
/*
 * stack_record - selects one stack of a capture and writes the data that its walk needs.
 *
 *     stack_record PERF_DATA any|signal|plt|vdso FILE     run by tests/recorded/record_stacks.py
 *
 * Among the complete stacks on which libdwfl and our walk agree, it selects the one through most
 * files, then with most frames. FILE is an input of tests/fuzz/bpf/unwind_fuzz.c: registers,
 * process, a page of mappings, three pages of a table, and the part of the stack that was read;
 * words that are text and were not read are zeroed. The mappings are moved next to each other in
 * the addresses of one table, which has the rows of all of them. It prints the frames of libdwfl,
 * one per line: address, FILE+ADDRESS.
 */
#define UNWIND_MAY_GUESS false /* a capture has no code */
#include "bpf/unwind.h"
#include "unwind/unwind_writer_internal.h"
#include "walks.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STACK_BYTES_MAX = 6144,
	MAPPINGS_MAX = 32,
	TABLE = 1, /* its first page; page 0 is the list */
	TABLE_PAGES = 3,
	BETTER_FILE = 1000, /* one more file counts like 1000 frames */
};

struct row {
	uint64_t address; /* in memory; later in the addresses of the table */
	struct unwind_rule rule;
};

/* The parts of a walk. */
struct recorded {
	struct places *places;
	const struct capture_event *sample;
	uint64_t from, stack_bytes; /* start of the stack, and the bytes that were read */
	bool is_read[STACK_BYTES_MAX / 8];
	struct row rows[USER_FRAMES_MAX];
	size_t row_count;
	struct unwind_mapping mappings[MAPPINGS_MAX];
	size_t mapping_count;
	uint64_t frames[USER_FRAMES_MAX];
	size_t count;
	uint32_t end;
	bool has_signal, has_plt, is_too_large;
};

static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from)
{
	struct recorded *recorded = walk->self;
	uint64_t at = from - recorded->from;
	str stack = recorded->sample->stack;

	if (at > stack.len || stack.len - at < bytes)
		return false;
	if (at + bytes > STACK_BYTES_MAX) {
		recorded->is_too_large = true;
		return false;
	}
	for (uint64_t i = at / 8; i < (at + bytes + 7) / 8; i++)
		recorded->is_read[i] = true;
	if (at + bytes > recorded->stack_bytes)
		recorded->stack_bytes = (at + bytes + 7) & ~7ULL;
	memcpy(to, stack.ptr + at, bytes);
	return true;
}

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	const struct recorded *recorded = walk->self;

	return number < recorded->places->pages.len ? recorded->places->pages.items[number] : NULL;
}

static void note_mapping(struct recorded *recorded, const struct unwind_mapping *mapping)
{
	size_t at = 0;

	while (at < recorded->mapping_count && recorded->mappings[at].start < mapping->start)
		at++;
	if (at < recorded->mapping_count && recorded->mappings[at].start == mapping->start)
		return;
	if (recorded->mapping_count == MAPPINGS_MAX) {
		recorded->is_too_large = true;
		return;
	}
	memmove(&recorded->mappings[at + 1], &recorded->mappings[at],
		(recorded->mapping_count++ - at) * sizeof(*mapping));
	recorded->mappings[at] = *mapping;
}

static void note_row(struct recorded *recorded, struct unwind *walk)
{
	struct row row = { .address = unwind_lookup_address(walk) };

	if (!walk->is_mapped)
		return;
	note_mapping(recorded, &walk->mapping);
	if (!walk->mapping.table || !unwind_find_rule(walk, row.address, &row.rule) ||
	    row.rule.cfa == UNWIND_CFA_NONE)
		return;
	recorded->has_signal |= row.rule.cfa == UNWIND_CFA_SIGNAL;
	recorded->has_plt |= row.rule.cfa == UNWIND_CFA_PLT;
	recorded->rows[recorded->row_count++] = row;
}

static void record(struct recorded *ret, struct places *places, struct process_places *process,
		   const struct capture_event *sample)
{
	struct unwind walk = { .now = sample->registers, .self = ret };

	*ret = (struct recorded){ .places = places, .sample = sample };
	ret->from = sample->registers.general[UNWIND_STACK_POINTER];
	unwind_begin(&walk, places_list(places, process));
	while (walk.end == USER_END_NONE && ret->count < USER_FRAMES_MAX) {
		ret->frames[ret->count++] = walk.now.pc;
		note_row(ret, &walk);
		unwind_step(&walk);
	}
	ret->end = walk.end;
}

static int by_address(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Translates an address in memory to the addresses of the table. */
static uint64_t moved(const struct recorded *recorded, uint64_t address)
{
	for (size_t i = 0; i < recorded->mapping_count; i++)
		if (address >= recorded->mappings[i].start && address < recorded->mappings[i].end)
			return address - recorded->mappings[i].bias;
	abort();
}

/* Moves the mappings next to each other, and the rows with them. */
static void move_together(struct recorded *recorded)
{
	uint64_t next = UNWIND_PAGE_BYTES;

	for (size_t i = 0; i < recorded->mapping_count; i++) {
		struct unwind_mapping *mapping = &recorded->mappings[i];

		mapping->bias = mapping->start - next;
		mapping->table = mapping->table ? TABLE : 0;
		next += mapping->end - mapping->start;
	}
	for (size_t i = 0; i < recorded->row_count; i++)
		recorded->rows[i].address = moved(recorded, recorded->rows[i].address);
	qsort(recorded->rows, recorded->row_count, sizeof(struct row), by_address);
}

static bool lay_out(struct recorded *recorded, struct arena *arena, str *ret_pages, struct err *err)
{
	struct unwind_rows rows;

	move_together(recorded);
	unwind_rows_init(&rows, arena, 0);
	for (size_t i = 0; i < recorded->row_count; i++) {
		const struct row *row = &recorded->rows[i];

		if (i && row->address == row[-1].address)
			continue;
		unwind_rows_begin(&rows, (uint32_t)row->address);
		unwind_rows_add(&rows, (uint32_t)row->address, &row->rule);
		unwind_rows_end(&rows, (uint32_t)row->address + 1);
	}
	if (!unwind_pages_write(&rows, arena, ret_pages, err))
		return false;
	if (ret_pages->len > TABLE_PAGES * UNWIND_PAGE_BYTES)
		return err_set(err, ERR_LIMIT, "a table of %zu bytes", ret_pages->len);
	return true;
}

static bool is_text(const char *word)
{
	int letters = 0;

	for (int i = 0; i < 8; i++) {
		if (word[i] && !isprint((unsigned char)word[i]))
			return false;
		letters += word[i] != 0;
	}
	return letters >= 3;
}

static bool write_file(struct recorded *recorded, const char *path, struct arena *arena,
		       struct err *err)
{
	struct unwind_process process = { .count = (uint32_t)recorded->mapping_count };
	char pages[1 + TABLE_PAGES][UNWIND_PAGE_BYTES] = { 0 }, stack[STACK_BYTES_MAX];
	str table;

	if (!lay_out(recorded, arena, &table, err))
		return false;
	memcpy(pages[0], recorded->mappings,
	       recorded->mapping_count * sizeof(struct unwind_mapping));
	memcpy(pages[TABLE], table.ptr, table.len);
	memcpy(stack, recorded->sample->stack.ptr, recorded->stack_bytes);
	for (size_t i = 0; i < recorded->stack_bytes; i += 8)
		if (!recorded->is_read[i / 8] && is_text(stack + i))
			memset(stack + i, 0, 8);

	FILE *file = fopen(path, "we");

	if (!file)
		return err_errno(err, "write %s", path);
	fwrite(&recorded->sample->registers, sizeof(struct sample_registers), 1, file);
	fwrite(&process, sizeof(process), 1, file);
	fwrite(pages, sizeof(pages), 1, file);
	fwrite(stack, recorded->stack_bytes, 1, file);
	return fclose(file) == 0 || err_errno(err, "write %s", path);
}

static const char *file_of(const struct process_places *process, uint64_t address)
{
	const struct place *place = places_find(process, address);
	const char *path = place ? place->module->path : "nowhere";
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_wanted(const struct recorded *recorded, const struct process_places *process,
		      const char *want)
{
	if (strcmp(want, "signal") == 0)
		return recorded->has_signal;
	if (strcmp(want, "plt") == 0)
		return recorded->has_plt;
	return strcmp(want, "vdso") != 0 ||
	       strcmp(file_of(process, recorded->frames[0]), "[vdso]") == 0;
}

static size_t goodness(const struct recorded *recorded, const struct walked *theirs)
{
	if (recorded->end != USER_END_COMPLETE || !theirs->is_complete || recorded->is_too_large ||
	    recorded->count != theirs->count || recorded->count < 3 ||
	    memcmp(recorded->frames, theirs->frames, theirs->count * sizeof(uint64_t)) != 0)
		return 0;
	return recorded->mapping_count * BETTER_FILE + recorded->count;
}

static void print_frames(const struct process_places *process, const struct walked *walked)
{
	for (size_t i = 0; i < walked->count; i++) {
		uint64_t at = walked->frames[i] - (i > 0);
		const struct place *place = places_find(process, at);

		printf("%" PRIx64 " %s+%" PRIx64 "\n", walked->frames[i], file_of(process, at),
		       place ? at - place->bias : at);
	}
}

/* Finds the best matching stack; the last one printed is in the file. */
static bool pick(const struct capture *capture, const char *want, const char *path,
		 struct arena *arena, struct err *err)
{
	static struct recorded recorded, best;
	static struct walked theirs, best_theirs;
	struct process_places *process = NULL, *best_process = NULL;
	struct places places;
	size_t best_is = 0;

	places_init(&places, arena);
	for (size_t i = 0; i < capture->events.len; i++) {
		const struct capture_event *event = &capture->events.items[i];

		places_apply(&places, event);
		if (event->kind != CAPTURE_SAMPLE)
			continue;
		process = places_process(&places, event->pid);
		record(&recorded, &places, process, event);
		walk_dwfl(process, event, &theirs);

		size_t good = goodness(&recorded, &theirs);

		if (good <= best_is || !is_wanted(&recorded, process, want))
			continue;
		best_is = good;
		best = recorded;
		best_theirs = theirs;
		best_process = process;
	}
	if (!best_is)
		return err_set(err, ERR_NOT_FOUND, "no such stack");
	print_frames(best_process, &best_theirs);
	return write_file(&best, path, arena, err);
}

static bool run(const char *data, const char *want, const char *path, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = open(data, O_RDONLY | O_CLOEXEC);
	struct capture capture = { 0 };
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return err_errno(err, "open %s", data);

	void *image = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (image == MAP_FAILED)
		return err_errno(err, "map %s", data);
	return capture_read(&capture, (str){ image, (size_t)stat.st_size }, &arena, err) &&
	       pick(&capture, want, path, &arena, err);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };

	if (argc != 4) {
		fputs("stack_record PERF_DATA any|signal|plt|vdso FILE\n", stderr);
		return 2;
	}
	if (!run(argv[1], argv[2], argv[3], &err)) {
		fprintf(stderr, "stack_record: %s\n", err.msg);
		return 1;
	}
	return 0;
}
