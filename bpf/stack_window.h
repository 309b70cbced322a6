// SPDX-License-Identifier: GPL-2.0
/*
 * stack_window - a read cache for the user stack, which the walk reads word by word.
 *
 *     stack_window_begin(&window);
 *     if (stack_window_read(&window, &word, sizeof(word), address))
 *
 * A window is WINDOW_BYTES of whole cache lines, read with one call: cold lines are fetched in
 * parallel, and the frames above find their words in the window. If such a read fails, as it does
 * near the end of the stack, words are read one by one from then on. BPF only; a window belongs to
 * one CPU.
 */
#pragma once

#include "kernel.h"

#include <bpf/bpf_helpers.h>

enum {
	WINDOW_BYTES = 512, /* of the user stack, read with one call */
	WINDOW_WORDS = WINDOW_BYTES / sizeof(uint64_t),
	WINDOW_LINE_BYTES = 64,
};
#define WINDOW_NOWHERE (1ULL << 63) /* never a user address */

struct stack_window {
	uint64_t from;   /* WINDOW_NOWHERE: the window is empty */
	bool is_useless; /* reading a window has failed in this stack */
	uint64_t words[WINDOW_WORDS];
};

/* Call at the beginning of each stack. */
static __always_inline void stack_window_begin(struct stack_window *window)
{
	window->from = WINDOW_NOWHERE;
	window->is_useless = false;
}

/* Moves the window so that it holds `bytes` bytes from `from` on. False: read them directly. */
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

/* Reads one or two words through the window, or any other number of bytes directly. False: they
 * cannot be read. */
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
