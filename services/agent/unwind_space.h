// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_space - the pages of tables and lists by their numbers, as BPF programs see them, for who
 * walks stacks here.
 */
#pragma once

#include <stdint.h>

struct unwind_space {
	/* NULL: nobody's. Good until the round's end. */
	const uint8_t *(*page)(void *self, uint64_t number);
	void *self;
};
