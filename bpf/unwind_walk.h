// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_walk - what the walk of a stack knows, and what it asks of who includes unwind.h.
 */
#pragma once

#include "object/unwind_format.h"
#include "sample.h"
#include "unwind_machine.h"
#include "unwind_maps.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the caller of generated code may be guessed; in BPF, what the agent says. */
#ifndef UNWIND_MAY_GUESS
#define UNWIND_MAY_GUESS true
#endif

/* One of UNWIND_SEEN places to remember a rule in: of who walks many stacks. NULL: none. */
#ifndef UNWIND_SEEN_AT
#define UNWIND_SEEN_AT(number) ((void)(number), (struct unwind_seen *)NULL)
#endif

enum {
	UNWIND_SEEN_BITS = 9,
	UNWIND_SEEN = 1 << UNWIND_SEEN_BITS,
	UNWIND_GUESS_WORDS = 64, /* of a frame of generated code; a bit for each */
	UNWIND_GUESSES_MAX = 24,
	UNWIND_GUESS_LOWEST = 1 << 16, /* below it no code can be */
	UNWIND_GUESS_STACK = 8 << 20,  /* what points up from here to so far is the stack's own */
	UNWIND_GUESS_FRAME = 1 << 16,  /* bytes of a frame */
	UNWIND_GUESS_RANGE = 1 << 28,  /* code that is generated lies so close together */
};

/* The rule that was found for an address; all zeroes: none. */
struct unwind_seen {
	uint64_t address; /* of the ELF file */
	uint32_t table;
	uint32_t generation; /* generation.tables when it was found */
	struct unwind_rule rule;
};

struct unwind {
	struct sample_registers now;         /* of the frame where the walk stands */
	struct unwind_generation generation; /* what is remembered of another holds no more */
	uint64_t shown; /* the address of the frame that was left last, for a record */
	uint32_t end;   /* enum user_end; USER_END_NONE: the walk goes on */
	uint32_t flags; /* SAMPLE_FRAME_POINTERS, SAMPLE_NEEDS_AGENT_WALK */
	/* private */
	uint64_t list; /* place of the process' mappings, as in struct unwind_process */
	uint32_t list_count;
	uint32_t low;                  /* of a search */
	uint32_t listed;               /* generation.lists when mapping was found */
	struct unwind_mapping mapping; /* where the walk stands, if it is_mapped */
	bool is_known;                 /* the process has a list */
	bool is_mapped;                /* the frame's address is in a mapping of the list */
	bool is_leaf;
	bool is_exact;    /* pc is where the thread goes on, not one past a call */
	bool has_all;     /* all registers are the frame's own: of a leaf, or from a signal frame */
	bool has_pointer; /* the frame pointer is */
	/* In generated code: what is tried, and where it was tried from. */
	uint8_t guesses; /* in this frame */
	bool is_tried, is_chained, has_call;
	uint32_t word, under; /* the word that is tried, and the one below */
	bool is_scanned;      /* the first of the words is the one below */
	struct {
		uint64_t pc, frame_pointer, stack;
		struct unwind_mapping mapping;
	} before;
	uint64_t saved[UNWIND_SIGNAL_WORDS]; /* what the kernel's signal frame holds */
	uint64_t words[UNWIND_GUESS_WORDS];  /* the stack, where the caller is guessed */
	void *self;                          /* of who includes unwind.h */
};

/* Given by who includes unwind.h: memory of the thread, and a page by its number, or NULL. */
static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from);
static const uint8_t *unwind_page(struct unwind *walk, uint64_t number);
