// SPDX-License-Identifier: GPL-2.0
/*
 * stack_window - a part of the user stack, read at once for a walk that wants it word by word.
 *
 *     stack_window_begin(&window);
 *     if (stack_window_read(&window, &word, sizeof(word), address))
 *
 * It is of whole cache lines: those that are cold come side by side, and the frames above find
 * theirs. Where that cannot be, near the stack's end, words are read one by one from then on.
 */
#pragma once

#include "kernel.h"

#include <bpf/bpf_helpers.h>

enum {
	WINDOW_BYTES = 512, /* of the user stack that are read at once */
	WINDOW_WORDS = WINDOW_BYTES / sizeof(uint64_t),
	WINDOW_LINE_BYTES = 64,
};
#define WINDOW_NOWHERE (1ULL << 63) /* no address of a thread */

struct stack_window {
	uint64_t from; /* WINDOW_NOWHERE: nothing was read, or cannot be */
	bool is_useless;
	uint64_t words[WINDOW_WORDS];
};

/* For another stack. */
static __always_inline void stack_window_begin(struct stack_window *window)
{
	window->from = WINDOW_NOWHERE;
	window->is_useless = false;
}

/* Makes it hold so many bytes from there on. */
static __attribute__((noinline)) bool stack_window_move(struct stack_window *window, uint64_t from,
							uint64_t bytes)
{
	uint64_t line = from & ~(uint64_t)(WINDOW_LINE_BYTES - 1);

	if (from - window->from <= WINDOW_BYTES - bytes && !(from & 7))
		return true;
	if (from & 7 || window->is_useless)
		return false;
	window->from = line;
	if (!bpf_probe_read_user(window->words, WINDOW_BYTES, (const void *)line))
		return true;
	window->from = WINDOW_NOWHERE;
	window->is_useless = true;
	return false;
}

/* One or two words of the stack, or bytes of anything else. False: they are not there. */
static __always_inline bool stack_window_read(struct stack_window *window, void *to, uint32_t bytes,
					      uint64_t from)
{
	uint64_t *words = to, at;

	if (bytes > 2 * sizeof(uint64_t) || !stack_window_move(window, from, bytes))
		return bpf_probe_read_user(to, bytes, (const void *)from) == 0;
	at = (from - window->from) / sizeof(uint64_t);
	words[0] = window->words[at & (WINDOW_WORDS - 1)];
	if (bytes > sizeof(uint64_t))
		words[1] = window->words[(at + 1) & (WINDOW_WORDS - 1)];
	return true;
}
