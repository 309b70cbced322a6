// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_walk - the state of a stack walk, and the two functions that the walk needs.
 *
 * unwind_read_user() and unwind_page() are a seam. They are declared here, and each file that
 * includes unwind.h defines them: bpf/sampler.bpf.c and bpf/process_lookup.h read the memory of the
 * current task and BPF maps; services/agent/unwind/stack_walk.c reads a shipped stack and the
 * agent's mapped pages; tests read their own memory. So the same walk runs in the kernel, in the
 * agent and in tests.
 */
#pragma once

#include "sample.h"
#include "unwind/unwind_format.h"
#include "unwind_machine.h"
#include "unwind_maps.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the caller of generated code may be guessed. In BPF a constant that the agent sets. */
#ifndef UNWIND_MAY_GUESS
#define UNWIND_MAY_GUESS true
#endif

/* Slot `number` of a rule cache with UNWIND_RULE_CACHE_SIZE slots, for code that walks many stacks.
 * NULL: there is no cache. */
#ifndef UNWIND_RULE_CACHE_SLOT
#define UNWIND_RULE_CACHE_SLOT(number) ((void)(number), (struct unwind_cached_rule *)NULL)
#endif

enum {
	UNWIND_RULE_CACHE_BITS = 9,
	UNWIND_RULE_CACHE_SIZE = 1 << UNWIND_RULE_CACHE_BITS,
	UNWIND_GUESS_WORDS = 64, /* words scanned in a frame of generated code; a bit for each */
	UNWIND_GUESSES_MAX = 24, /* rounds in one frame */
	UNWIND_BELOW_MAX = 8,    /* rounds of them below the frame pointer */
	UNWIND_GUESS_LOWEST = 1 << 16, /* no code lies below this address */
	UNWIND_GUESS_STACK = 8 << 20,  /* a word up to this far above the stack pointer is data */
	UNWIND_GUESS_FRAME = 1 << 16,  /* the largest frame, in bytes */
	/* The largest distance of a caller from the frame, from the file code that was walked last,
	 * and from the program. */
	UNWIND_GUESS_RANGE = 1 << 28,
};

/* How a caller of generated code is searched. */
enum unwind_search {
	UNWIND_SEARCH_POINTER, /* by the frame pointer */
	UNWIND_SEARCH_BELOW,   /* in the words below the frame pointer, which led to file code */
	UNWIND_SEARCH_AGAIN,   /* by the frame pointer: there was none below */
	UNWIND_SEARCH_STACK,   /* in all words */
};

/* A slot of the rule cache: the rule of an address. All zeroes: empty. */
struct unwind_cached_rule {
	uint64_t address; /* of the ELF file */
	uint32_t table;
	uint32_t generation; /* generation.tables when it was found */
	struct unwind_rule rule;
};

struct unwind {
	struct sample_registers now;         /* of the current frame */
	struct unwind_generation generation; /* cached data of another generation is stale */
	uint64_t shown; /* the address of the last finished frame, as a record stores it */
	uint32_t end;   /* enum user_end; USER_END_NONE: the walk continues */
	uint32_t flags; /* SAMPLE_FRAME_POINTERS, SAMPLE_NEEDS_AGENT_WALK */
	/* private */
	uint64_t list; /* place of the process' mappings, as in struct unwind_process */
	uint32_t list_count;
	uint32_t low;                  /* lower bound of a binary search */
	uint32_t listed;               /* generation.lists when mapping was found */
	struct unwind_mapping mapping; /* of the current frame, if is_mapped */
	bool is_known;                 /* the process has a list */
	bool is_mapped;                /* the frame's address is in a mapping of the list */
	bool is_leaf;
	bool is_exact;    /* pc is the next instruction of the frame, not a return address */
	bool has_all;     /* all registers are this frame's: in a leaf, or after a signal frame */
	bool has_pointer; /* the frame pointer is this frame's */
	/* In generated code: the candidate, and the frame from which it was tried. */
	uint8_t guesses;      /* rounds in this frame */
	uint8_t search;       /* enum unwind_search */
	bool is_tried;        /* `now` holds a candidate that is not confirmed yet */
	bool is_chained;      /* the saved frame pointer points up the stack */
	bool has_call;        /* there is a call before the candidate's return address */
	uint32_t word, under; /* index of the candidate word, and of the word below it */
	bool is_scanned;      /* words[0] is the word below the first candidate */
	uint64_t file_code;   /* the address of the last frame in a file; 0: none */
	struct {
		uint64_t pc, frame_pointer, stack;
		struct unwind_mapping mapping;
	} before;
	uint64_t saved[UNWIND_SIGNAL_WORDS]; /* registers in the kernel's signal frame */
	uint64_t words[UNWIND_GUESS_WORDS];  /* the stack words that are scanned for a guess */
	void *self;                          /* for the two functions below */
};

/*
 * Defined by each file that includes unwind.h. unwind_read_user() copies memory of the thread;
 * false if any byte cannot be read. unwind_page() returns a page of tables or lists by its number
 * (unwind_maps.h), or NULL if the page is not loaded. The caller does not release the page; it is
 * valid during the walk.
 */
static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from);
static const uint8_t *unwind_page(struct unwind *walk, uint64_t number);
