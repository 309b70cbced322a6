// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_truth - compares our stack walk with that of libdwfl of elfutils.
 *
 *     perf record --call-graph dwarf,65528 ... && unwind_truth perf.data [--frames]
 *
 * It walks each captured stack twice, from the same registers and bytes, and compares frame by
 * frame. It prints JSON: counts, and the differences by cause, each with an example. With --frames
 * it prints each of our stacks before that: thread, time in ns, addresses in the files like perf
 * script (return address minus one). Run by tests/integration/test_unwind_truth.py.
 */
#include "walks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { CAUSE_TEXT = 256 };

struct cause {
	char text[CAUSE_TEXT], example[CAUSE_TEXT];
	size_t stacks;
};

struct score {
	size_t samples, equal, frames, equal_frames, complete_ours, complete_dwfl, by_pointers,
		blind; /* not comparable: libdwfl read below the stack, see walks.h */
	VEC(struct cause) causes;
};

static const char *module_name(const struct process_places *process, uint64_t address)
{
	const struct place *place = places_find(process, address);
	const char *path = place ? place->module->path : "nowhere";
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint64_t elf_address(const struct process_places *process, uint64_t address)
{
	const struct place *place = places_find(process, address);

	return place ? address - place->bias : address;
}

static void score_cause(struct score *score, struct arena *arena, const char *text,
			const char *example)
{
	struct cause *cause = NULL;

	for (size_t i = 0; i < score->causes.len && !cause; i++)
		if (strcmp(score->causes.items[i].text, text) == 0)
			cause = &score->causes.items[i];
	if (!cause) {
		cause = vec_push(arena, &score->causes);
		*cause = (struct cause){ 0 };
		snprintf(cause->text, sizeof(cause->text), "%s", text);
		snprintf(cause->example, sizeof(cause->example), "%s", example);
	}
	cause->stacks++;
}

/*
 * The cause of the difference of two walks that agree on `same` frames: what one of them did with
 * the last of these frames.
 */
static void count_difference(struct score *score, struct arena *arena,
			     const struct process_places *process, const struct walked *ours,
			     const struct walked *theirs, size_t same)
{
	uint64_t last = same ? ours->frames[same - 1] : 0;
	char text[CAUSE_TEXT], example[CAUSE_TEXT];
	const char *where = module_name(process, last - (same > 1));

	if (ours->count == same)
		snprintf(text, sizeof(text), "ours ends in %s: %s", where, ours->end);
	else if (theirs->count == same)
		snprintf(text, sizeof(text), "libdwfl ends in %s: %s%s", where, theirs->end,
			 ours->by_frame_pointers && ours->first_by_pointer < same
				 ? " (ours goes on by frame pointers)"
				 : "");
	else
		snprintf(text, sizeof(text), "callers of %s differ%s", where,
			 ours->by_frame_pointers && ours->first_by_pointer < same
				 ? " (ours by frame pointers)"
				 : "");
	snprintf(example, sizeof(example),
		 "frame %zu at %#" PRIx64 " of %s; ours %#" PRIx64 " (%zu, %s), libdwfl %#" PRIx64
		 " (%zu, %s)",
		 same, elf_address(process, last), where,
		 same < ours->count ? ours->frames[same] : 0, ours->count, ours->end,
		 same < theirs->count ? theirs->frames[same] : 0, theirs->count, theirs->end);
	score_cause(score, arena, text, example);
}

static void compare(struct score *score, struct arena *arena, const struct process_places *process,
		    const struct walked *ours, const struct walked *theirs)
{
	size_t least = ours->count < theirs->count ? ours->count : theirs->count;
	size_t most = ours->count + theirs->count - least, same = 0;

	while (same < least && ours->frames[same] == theirs->frames[same])
		same++;
	score->samples++;
	if (same == theirs->count && same < ours->count && theirs->read_below) {
		score->blind++;
		return;
	}
	score->frames += most;
	score->equal_frames += same;
	score->complete_ours += ours->is_complete;
	score->complete_dwfl += theirs->is_complete;
	score->by_pointers += ours->by_frame_pointers;
	if (same == most)
		score->equal++;
	else
		count_difference(score, arena, process, ours, theirs, same);
}

static void print_frames(const struct process_places *process, const struct capture_event *sample,
			 const struct walked *walked)
{
	printf("%u %" PRIu64, sample->tid, sample->time);
	for (size_t i = 0; i < walked->count; i++)
		printf(" %" PRIx64, elf_address(process, walked->frames[i] - (i > 0)));
	putchar('\n');
}

static void print_score(const struct score *score, const struct capture *capture)
{
	printf("{\"stacks\":%zu,\"equal\":%zu,\"frames\":%zu,\"equal_frames\":%zu,"
	       "\"complete_ours\":%zu,\"complete_libdwfl\":%zu,\"by_frame_pointers\":%zu,"
	       "\"blind\":%zu,\"without_stack\":%zu,\"causes\":[",
	       score->samples, score->equal, score->frames, score->equal_frames,
	       score->complete_ours, score->complete_dwfl, score->by_pointers, score->blind,
	       capture->without_stack);
	for (size_t i = 0; i < score->causes.len; i++)
		printf("%s{\"stacks\":%zu,\"cause\":\"%s\",\"example\":\"%s\"}", i ? "," : "",
		       score->causes.items[i].stacks, score->causes.items[i].text,
		       score->causes.items[i].example);
	printf("]}\n");
}

static bool run(const char *path, bool with_frames, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	static struct walked ours, theirs;
	struct capture capture = { 0 };
	struct places places;
	struct score score = { 0 };
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return err_errno(err, "open %s", path);

	void *image = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (image == MAP_FAILED)
		return err_errno(err, "map %s", path);
	if (!capture_read(&capture, (str){ image, (size_t)stat.st_size }, &arena, err))
		return false;
	places_init(&places, &arena);
	for (size_t i = 0; i < capture.events.len; i++) {
		const struct capture_event *event = &capture.events.items[i];

		places_apply(&places, event);
		if (event->kind != CAPTURE_SAMPLE)
			continue;

		struct process_places *process = places_process(&places, event->pid);

		walk_ours(&places, process, event, &ours);
		walk_dwfl(process, event, &theirs);
		compare(&score, &arena, process, &ours, &theirs);
		if (with_frames)
			print_frames(process, event, &ours);
	}
	print_score(&score, &capture);
	return true;
}

int main(int argc, char **argv)
{
	bool with_frames = argc > 2 && strcmp(argv[2], "--frames") == 0;
	struct err err = { 0 };

	if (argc < 2 || argc > 2 + with_frames) {
		fputs("unwind_truth PERF_DATA [--frames]\n", stderr);
		return 2;
	}
	if (!run(argv[1], with_frames, &err)) {
		fprintf(stderr, "unwind_truth: %s\n", err.msg);
		return 1;
	}
	return 0;
}
