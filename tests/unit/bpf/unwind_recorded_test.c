// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of real programs, recorded with all that their walk needs, are walked as libdwfl did when
 * they were: postgres, node, gcc, python, redis, java, Go, Rust, a signal frame, PLT, vdso.
 *
 * They are inputs of the fuzzer of the walk (its corpus), of which each page and the stack lie in
 * memory of their own here, so that a sanitizer sees a step past it. tests/recorded/stacks.txt has
 * the frames; tests/recorded/record_stacks.py makes both anew.
 */
#define UNWIND_MAY_GUESS false /* a recording contains no code */
#include "bpf/unwind.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES = 4, FRAMES_MAX = 128 };

struct recording {
	struct sample_registers registers;
	struct unwind_process process;
	uint8_t *pages[PAGES];
	uint8_t *stack;
	size_t stack_bytes;
	uint64_t expected[FRAMES_MAX];
	size_t expected_count;
};

struct found {
	uint64_t frames[FRAMES_MAX];
	size_t count;
	uint32_t end;
};

static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from)
{
	const struct recording *recording = walk->self;
	uint64_t at = from - recording->registers.general[UNWIND_STACK_POINTER];

	if (at > recording->stack_bytes || recording->stack_bytes - at < bytes)
		return false;
	memcpy(to, recording->stack + at, bytes);
	return true;
}

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	const struct recording *recording = walk->self;

	return number < PAGES ? recording->pages[number] : NULL;
}

static void *take(FILE *file, size_t bytes)
{
	void *to = malloc(bytes);

	assert_non_null(to);
	assert_int_equal(fread(to, 1, bytes, file), bytes);
	return to;
}

static void expected_read(struct recording *recording, const char *name)
{
	FILE *list = fopen(CORPUS "/../../recorded/stacks.txt", "re");
	char line[512], of[64];
	uint64_t frame;

	assert_non_null(list);
	while (fgets(line, sizeof(line), list))
		if (sscanf(line, "%63s %" SCNx64, of, &frame) == 2 && strcmp(of, name) == 0) {
			assert_true(recording->expected_count < FRAMES_MAX);
			recording->expected[recording->expected_count++] = frame;
		}
	fclose(list);
	assert_true(recording->expected_count > 2);
}

static void recording_open(struct recording *recording, const char *name)
{
	const size_t head = sizeof(struct sample_registers) + sizeof(struct unwind_process);
	char path[512];

	snprintf(path, sizeof(path), "%s/unwind/recorded-%s", CORPUS, name);

	FILE *file = fopen(path, "re");

	assert_non_null(file);
	*recording = (struct recording){ 0 };
	assert_int_equal(fread(&recording->registers, sizeof(recording->registers), 1, file), 1);
	assert_int_equal(fread(&recording->process, sizeof(recording->process), 1, file), 1);
	for (size_t i = 0; i < PAGES; i++)
		recording->pages[i] = take(file, UNWIND_PAGE_BYTES);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	recording->stack_bytes = (size_t)ftell(file) - head - (size_t)PAGES * UNWIND_PAGE_BYTES;
	assert_int_equal(fseek(file, -(long)recording->stack_bytes, SEEK_END), 0);
	recording->stack = take(file, recording->stack_bytes);
	fclose(file);
	expected_read(recording, name);
}

static void recording_close(struct recording *recording)
{
	for (size_t i = 0; i < PAGES; i++)
		free(recording->pages[i]);
	free(recording->stack);
}

/* As if `missing` bytes at the root's end had not been read. */
static void walk(struct recording *recording, size_t missing, struct found *ret)
{
	struct unwind unwind = { .now = recording->registers, .self = recording };
	uint8_t *whole = recording->stack;

	recording->stack_bytes -= missing;
	recording->stack = malloc(recording->stack_bytes ? recording->stack_bytes : 1);
	assert_non_null(recording->stack);
	memcpy(recording->stack, whole, recording->stack_bytes);
	ret->count = 0;
	unwind_begin(&unwind, &recording->process);
	while (unwind.end == USER_END_NONE && ret->count < FRAMES_MAX) {
		ret->frames[ret->count++] = unwind.now.pc;
		unwind_step(&unwind);
	}
	ret->end = unwind.end;
	free(recording->stack);
	recording->stack = whole;
	recording->stack_bytes += missing;
}

static void is_walked_as_libdwfl_did(void **state)
{
	struct recording recording;
	struct found found;

	recording_open(&recording, *state);
	walk(&recording, 0, &found);

	assert_int_equal(found.end, USER_END_COMPLETE);
	assert_int_equal(found.count, recording.expected_count);
	assert_memory_equal(found.frames, recording.expected, found.count * sizeof(uint64_t));
	recording_close(&recording);
}

/* For each length of the stack, the frames that are found are right, and the walk says that it
 * ended. */
static void is_walked_to_the_end_of_the_recorded_stack(void **state)
{
	struct recording recording;
	struct found found;

	recording_open(&recording, *state);
	for (size_t missing = 8; missing <= recording.stack_bytes; missing += 8) {
		walk(&recording, missing, &found);
		assert_true(found.count <= recording.expected_count);
		assert_memory_equal(found.frames, recording.expected,
				    found.count * sizeof(uint64_t));
		assert_true(found.end != USER_END_NONE && found.end != USER_END_COMPLETE);
	}
	recording_close(&recording);
}

#define CLAIM(claim, name)                                                     \
	{                                                                      \
#claim ": " name, claim, NULL, NULL, (void *)(uintptr_t)(name) \
	}
#define RECORDED(name)                         \
	CLAIM(is_walked_as_libdwfl_did, name), \
		CLAIM(is_walked_to_the_end_of_the_recorded_stack, name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RECORDED("gcc"),   RECORDED("go"),       RECORDED("java"),   RECORDED("node"),
		RECORDED("plt"),   RECORDED("postgres"), RECORDED("python"), RECORDED("realigned"),
		RECORDED("redis"), RECORDED("rust"),     RECORDED("signal"), RECORDED("vdso"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
