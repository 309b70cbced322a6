// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind - walks one user stack, one frame a step.
 *
 *     walk->now = registers;
 *     unwind_begin(walk, process);
 *     while (walk->end == USER_END_NONE && frames < room) {
 *             unwind_step(walk);
 *             frame[frames++] = walk->shown;
 *     }
 *
 * Compiled into the BPF programs, into tests on the host, and into the agent, which walks shipped
 * stacks. The including file defines the two functions that unwind_walk.h declares.
 *
 * A step finds the row of the current address and applies its rule. Without a row it follows the
 * frame pointer; in generated code it may guess: it takes a stack word that looks like a return
 * address. Both are reported in walk->flags. If the process is known, the address that a step
 * reaches must lie in a mapping, or it is no frame.
 *
 * Every walk ends with a reason in walk->end. The first failed read ends the walk: in BPF each read
 * costs half a microsecond and more.
 */
#pragma once

#include "unwind_find.h"
#include "unwind_maps.h"
#include "unwind_walk.h"

/* Flags of mappings and processes are copied to the walk without conversion. */
_Static_assert((int)UNWIND_MAPPING_AWAITED == (int)SAMPLE_NEEDS_AGENT_WALK &&
		       (int)UNWIND_PROCESS_REMAPPED == (int)SAMPLE_NEEDS_AGENT_WALK,
	       "both flags ask for a walk in the agent");

static inline void unwind_stop(struct unwind *walk, enum user_end end)
{
	walk->end = (uint32_t)end;
}

/* The address to look up. A return address may be the first address of the next function, so one
 * less is looked up. */
static inline uint64_t unwind_lookup_address(const struct unwind *walk)
{
	return walk->now.pc - !walk->is_exact;
}

/*
 * Begins a walk. The caller has set walk->now, walk->generation, and walk->self if its two
 * functions need it. `process`: NULL if the process is not known. Before the first stack the walk
 * must be all zeroes. It may then be used for further stacks and keeps the last mapping as a cache.
 */
static inline void unwind_begin(struct unwind *walk, const struct unwind_process *process)
{
	walk->shown = 0;
	walk->flags = process ? process->flags & UNWIND_PROCESS_REMAPPED : 0;
	walk->end = USER_END_NONE;
	if (!process || walk->list != process->place || walk->listed != walk->generation.lists)
		walk->mapping.start = walk->mapping.end = 0;
	walk->list = process ? process->place : 0;
	walk->list_count = process ? process->count : 0;
	walk->listed = walk->generation.lists;
	walk->guesses = 0;
	walk->file_code = 0;
	walk->is_tried = false;
	walk->is_known = process != NULL;
	walk->is_leaf = walk->is_exact = walk->has_all = walk->has_pointer = true;
	walk->is_mapped = walk->is_known && unwind_find_mapping(walk, walk->now.pc);
	if (!walk->is_mapped)
		walk->flags |= SAMPLE_NEEDS_AGENT_WALK;
}

/* The candidate in generated code was wrong: returns to the frame; the next round tries the words
 * after it. */
static inline void unwind_reject_candidate(struct unwind *walk)
{
	walk->now.pc = walk->before.pc;
	walk->now.general[UNWIND_FRAME_POINTER] = walk->before.frame_pointer;
	walk->now.general[UNWIND_STACK_POINTER] = walk->before.stack;
	walk->mapping = walk->before.mapping;
	walk->is_mapped = true;
	walk->is_tried = false;
	if (++walk->guesses == UNWIND_GUESSES_MAX)
		unwind_stop(walk, USER_END_BAD_FRAME);
}

/* True if the candidate in generated code is a frame. */
static inline bool unwind_is_found(const struct unwind *walk)
{
	return walk->is_mapped &&
	       (walk->has_call || (walk->search != UNWIND_SEARCH_BELOW && walk->is_chained &&
				   walk->mapping.flags & UNWIND_MAPPING_ANONYMOUS));
}

/*
 * True if the candidate of the frame pointer may be the frame of an outer function. Generated code
 * that keeps no frame pointers leaves it as its caller had it; if that is file code without frame
 * pointers, it leads past callers.
 */
static inline bool unwind_is_doubtful(const struct unwind *walk)
{
	return walk->search == UNWIND_SEARCH_POINTER &&
	       !(walk->mapping.flags & UNWIND_MAPPING_ANONYMOUS) &&
	       walk->before.frame_pointer > walk->before.stack;
}

/* The candidate is no frame, or a doubtful one: how the search continues. */
static inline void unwind_search_next(struct unwind *walk, bool is_found)
{
	if (walk->search == UNWIND_SEARCH_POINTER && is_found)
		walk->search = UNWIND_SEARCH_BELOW;
	else if (walk->search != UNWIND_SEARCH_BELOW)
		walk->search = UNWIND_SEARCH_STACK;
	else if (walk->guesses >= UNWIND_BELOW_MAX)
		walk->search = UNWIND_SEARCH_AGAIN;
	unwind_reject_candidate(walk);
}

static inline bool unwind_is_guess(const struct unwind *walk)
{
	return walk->search == UNWIND_SEARCH_BELOW || walk->search == UNWIND_SEARCH_STACK;
}

/* The walk has reached a caller. `astray`: the end of the walk if there is no code at its address.
 */
static inline void unwind_arrive(struct unwind *walk, bool is_exact, enum user_end astray)
{
	bool is_tried = UNWIND_MAY_GUESS && walk->is_tried;

	if (walk->now.pc == 0 && !is_tried)
		return unwind_stop(walk, USER_END_COMPLETE);
	if (walk->is_known)
		walk->is_mapped = unwind_find_mapping(walk, walk->now.pc - !is_exact);
	if (is_tried) {
		bool is_found = unwind_is_found(walk);

		if (!is_found || unwind_is_doubtful(walk))
			return unwind_search_next(walk, is_found);
		walk->flags |= unwind_is_guess(walk) ? SAMPLE_GUESSED : SAMPLE_FRAME_POINTERS;
	}
	walk->is_exact = walk->has_all = is_exact;
	walk->is_leaf = walk->is_tried = false;
	walk->guesses = 0;
	if (walk->is_known && !walk->is_mapped)
		unwind_stop(walk, astray);
}

/*
 * Goes to the caller by the frame pointer, which points to the caller's frame pointer and the
 * return address. `keeps`: the code is known to keep frame pointers; it may then switch to another
 * stack (Go). In other code the register may hold anything: `astray` is the end of the walk if it
 * leads to no code.
 */
static inline void unwind_by_frame_pointer(struct unwind *walk, bool keeps, enum user_end astray)
{
	uint64_t pointer = walk->now.general[UNWIND_FRAME_POINTER];
	uint64_t frame[2];

	walk->flags |= SAMPLE_FRAME_POINTERS;
	if (!walk->has_pointer)
		return unwind_stop(walk, astray);
	if (pointer == 0) /* set so by the root; in a leaf it may be any number */
		return unwind_stop(walk, walk->is_leaf && !keeps ? astray : USER_END_COMPLETE);
	if (!keeps && pointer < walk->now.general[UNWIND_STACK_POINTER])
		return unwind_stop(walk, astray);
	if (!unwind_read_user(walk, frame, sizeof(frame), pointer))
		return unwind_stop(walk, keeps ? USER_END_READ_FAULT : astray);
	walk->now.pc = unwind_address(frame[1]);
	walk->now.general[UNWIND_FRAME_POINTER] = frame[0];
	walk->now.general[UNWIND_STACK_POINTER] = pointer + sizeof(frame);
}

/*
 * Tries a word of the stack as the return address, and the word below it, at `place`, as the saved
 * frame pointer. The candidate counts as a return address if a call ends there; or if it lies in
 * generated code and the word below points up the stack as a frame pointer does, because
 * interpreters push continuation addresses that follow no call.
 */
static inline void unwind_try(struct unwind *walk, uint64_t place, uint64_t below, uint64_t address)
{
	uint64_t code = 0;

	walk->is_tried = true;
	walk->is_chained = below - place - 16 < UNWIND_GUESS_FRAME;
	walk->has_call = unwind_read_user(walk, &code, sizeof(code), address - sizeof(code)) &&
			 unwind_is_call(code);
	walk->now.pc = address;
	walk->now.general[UNWIND_FRAME_POINTER] = below;
	walk->now.general[UNWIND_STACK_POINTER] = place + 16;
}

/* 1 if value < max, else 0, without a branch. max is at most 2^63. */
static inline uint64_t unwind_is_below(uint64_t value, uint64_t max)
{
	return (~value & (value - max)) >> 63;
}

/* A bit for each word that lies near the current code, the last file code or the program, and not
 * in the stack. */
static inline uint64_t unwind_near_code(struct unwind *walk)
{
	uint64_t from = walk->now.pc - UNWIND_GUESS_RANGE, hits = 0;
	uint64_t program = unwind_program_start(walk) - UNWIND_GUESS_RANGE;
	uint64_t file = (walk->file_code ? walk->file_code : walk->now.pc) - UNWIND_GUESS_RANGE;
	uint64_t stack = walk->now.general[UNWIND_STACK_POINTER];

	UNWIND_UNROLL
	for (uint32_t i = 0; i < UNWIND_GUESS_WORDS; i++) {
		uint64_t word = walk->words[i];

		hits |= ((unwind_is_below(word - from, 2 * (uint64_t)UNWIND_GUESS_RANGE) |
			  unwind_is_below(word - file, 2 * (uint64_t)UNWIND_GUESS_RANGE) |
			  unwind_is_below(word - program, 2 * (uint64_t)UNWIND_GUESS_RANGE)) &
			 ~unwind_is_below(word - stack, UNWIND_GUESS_STACK) &
			 ~unwind_is_below(word, UNWIND_GUESS_LOWEST))
			<< i;
		UNWIND_OPAQUE(hits);
	}
	return hits;
}

/* Index of the lowest set bit; 0 if no bit is set. */
static inline uint32_t unwind_lowest(uint64_t bits)
{
	const uint64_t masks[] = { 0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
				   0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000 };
	uint32_t number = 0;

	bits &= -bits;
	UNWIND_UNROLL
	for (uint32_t i = 0; i < 6; i++)
		number |= (uint32_t)(1 - unwind_is_zero(bits & masks[i])) << i;
	return number;
}

/*
 * Guesses the caller: the first word on the stack that points near the current code and after a
 * call. A round tries one word; the next round continues after it, with it as the word below.
 */
static inline void unwind_by_guess(struct unwind *walk)
{
	uint64_t stack = walk->now.general[UNWIND_STACK_POINTER], hits, address, below;
	uint32_t word, under;

	if (!unwind_read_user(walk, walk->words, sizeof(walk->words), stack))
		return unwind_stop(walk, USER_END_BAD_FRAME);
	hits = unwind_near_code(walk) & ~(uint64_t)walk->is_scanned;
	if (walk->search == UNWIND_SEARCH_BELOW) {
		uint64_t below_pointer = (walk->now.general[UNWIND_FRAME_POINTER] - stack) / 8;

		if (below_pointer < UNWIND_GUESS_WORDS) {
			hits &= (1ULL << (below_pointer & (UNWIND_GUESS_WORDS - 1))) - 1;
			if (hits == 0) {
				walk->search = UNWIND_SEARCH_AGAIN;
				return unwind_reject_candidate(walk);
			}
		}
	}
	walk->is_scanned = true;
	if (hits == 0) {
		walk->before.stack = stack + 8 * (uint64_t)(UNWIND_GUESS_WORDS - 1);
		return unwind_reject_candidate(walk);
	}
	/* Stored and loaded again: old verifiers trace an index back instruction by instruction. */
	walk->word = unwind_lowest(hits);
	walk->under = walk->word - 1;
	UNWIND_IN_MEMORY();
	word = walk->word;
	under = walk->under;
	UNWIND_OPAQUE(word);
	UNWIND_OPAQUE(under);
	address = unwind_address(walk->words[word & (UNWIND_GUESS_WORDS - 1)]);
	below = walk->words[under & (UNWIND_GUESS_WORDS - 1)];
	/* Below the frame pointer, the code has left the register as its caller had it. */
	if (word == 0 || walk->search == UNWIND_SEARCH_BELOW)
		below = walk->now.general[UNWIND_FRAME_POINTER];
	walk->before.stack = stack + 8 * (uint64_t)word;
	unwind_try(walk, walk->before.stack - 8, below, address);
}

/*
 * Follows the frame pointer if it leads to a return address, else guesses: generated code may not
 * keep frame pointers. A frame pointer that leads to file code is followed only if no word below it
 * is one that a call returns to.
 */
static inline void unwind_in_generated_code(struct unwind *walk)
{
	uint64_t pointer = walk->now.general[UNWIND_FRAME_POINTER];
	uint64_t stack = walk->now.general[UNWIND_STACK_POINTER];
	uint64_t frame[2];

	walk->before.pc = walk->now.pc;
	walk->before.frame_pointer = pointer;
	walk->before.stack = stack;
	walk->before.mapping = walk->mapping;
	if (!walk->guesses) {
		walk->is_scanned = false;
		walk->search = UNWIND_SEARCH_POINTER;
	}
	if (walk->search == UNWIND_SEARCH_POINTER || walk->search == UNWIND_SEARCH_AGAIN) {
		if (walk->has_pointer && pointer >= stack &&
		    unwind_read_user(walk, frame, sizeof(frame), pointer))
			return unwind_try(walk, pointer, frame[0], unwind_address(frame[1]));
		walk->search = UNWIND_SEARCH_STACK;
	}
	unwind_by_guess(walk);
}

/* The value of a register in this frame. False: it is unknown, because only the stack pointer, and
 * maybe the frame pointer, are restored in callers. */
static inline bool unwind_register(const struct unwind *walk, uint32_t number, uint64_t *ret_value)
{
	*ret_value = walk->now.general[number & (GENERAL_REGISTERS - 1)];
	return walk->has_all || number == UNWIND_STACK_POINTER ||
	       (number == UNWIND_FRAME_POINTER && walk->has_pointer);
}

/* Computes the CFA (the address where the frame begins). On failure it ends the walk and returns
 * false. */
static inline bool unwind_frame_address(struct unwind *walk, const struct unwind_rule *rule,
					uint64_t *ret_address)
{
	uint64_t base = walk->now.general[UNWIND_STACK_POINTER];

	if (rule->cfa == UNWIND_CFA_PLT) {
		bool is_pushed = (walk->now.pc & 15) >= (uint64_t)rule->cfa_offset;

		*ret_address = base + 8 + 8 * is_pushed;
		return true;
	}
	if (!unwind_register(walk, rule->cfa_register, &base)) {
		unwind_stop(walk, USER_END_UNSUPPORTED);
		return false;
	}
	base += (uint64_t)(int64_t)rule->cfa_offset;
	if (rule->cfa == UNWIND_CFA_DEREF) {
		if (!unwind_read_user(walk, &base, sizeof(base), base)) {
			unwind_stop(walk, USER_END_READ_FAULT);
			return false;
		}
		base += (uint64_t)(int64_t)rule->cfa_second;
	}
	*ret_address = base;
	return true;
}

/* Restores one register of the caller. *value holds this frame's value and gets the caller's.
 * False: memory could not be read. */
static inline __attribute__((always_inline)) bool unwind_saved(struct unwind *walk, uint32_t how,
							       int32_t offset, uint64_t frame,
							       uint64_t *value, bool *has_value)
{
	uint64_t pointer;

	switch ((enum unwind_saved)how) {
	case UNWIND_SAVED_SAME:
		return true;
	case UNWIND_SAVED_AT_CFA:
		*has_value = true;
		return unwind_read_user(walk, value, sizeof(*value),
					frame + (uint64_t)(int64_t)offset);
	case UNWIND_SAVED_REGISTER:
		*has_value = unwind_register(walk, (uint32_t)offset, value);
		return true;
	case UNWIND_SAVED_AT_FRAME_POINTER:
		*has_value = unwind_register(walk, UNWIND_FRAME_POINTER, &pointer);
		return *has_value && unwind_read_user(walk, value, sizeof(*value),
						      pointer + (uint64_t)(int64_t)offset);
	case UNWIND_SAVED_UNDEFINED:
	case UNWIND_SAVED_UNSUPPORTED:
	case UNWIND_SAVED_COUNT:
		break;
	}
	*has_value = false;
	return true;
}

/* True if frame pointer and return address lie side by side, as after a push or a pair of stores.
 */
static inline bool unwind_is_pair(const struct unwind_rule *rule)
{
	return rule->frame_pointer == UNWIND_SAVED_AT_CFA &&
	       rule->return_address == UNWIND_SAVED_AT_CFA &&
	       rule->frame_pointer_offset + 8 == rule->return_address_offset;
}

static inline bool unwind_read_pair(struct unwind *walk, const struct unwind_rule *rule,
				    uint64_t frame, uint64_t saved[2], bool has[2])
{
	uint64_t pair[2];

	if (!unwind_read_user(walk, pair, sizeof(pair),
			      frame + (uint64_t)(int64_t)rule->frame_pointer_offset))
		return false;
	saved[0] = pair[0];
	saved[1] = pair[1];
	has[0] = has[1] = true;
	return true;
}

/*
 * True if an epilogue has popped the frame pointer. Compilers emit no row for that; the slot then
 * lies below the stack pointer, where a shipped stack has no bytes. Where the slot can be read, its
 * value is still right, and for a leaf that saves registers below its stack pointer it is the only
 * copy.
 */
static inline bool unwind_is_popped(const struct unwind *walk, const struct unwind_rule *rule,
				    uint64_t frame)
{
	return rule->frame_pointer == UNWIND_SAVED_AT_CFA &&
	       frame + (uint64_t)(int64_t)rule->frame_pointer_offset <
		       walk->now.general[UNWIND_STACK_POINTER];
}

/* Restores the two registers that rules describe: saved[0] frame pointer, saved[1] return address.
 * has[]: whether the value is known. False: memory could not be read. */
static inline bool unwind_read_saved(struct unwind *walk, const struct unwind_rule *rule,
				     uint64_t frame, uint64_t saved[2], bool has[2])
{
	saved[0] = walk->now.general[UNWIND_FRAME_POINTER];
	has[0] = walk->has_pointer;
	has[1] = unwind_link(&walk->now, &saved[1]) && walk->has_all;
	if (unwind_is_pair(rule) && unwind_read_pair(walk, rule, frame, saved, has))
		return true;
	if (!unwind_saved(walk, rule->return_address, rule->return_address_offset, frame, &saved[1],
			  &has[1]))
		return false;
	if (unwind_is_popped(walk, rule, frame))
		return true;
	return unwind_saved(walk, rule->frame_pointer, rule->frame_pointer_offset, frame, &saved[0],
			    &has[0]);
}

/*
 * The least size of a frame. It is 0 if the return address is in a register, which is possible in a
 * leaf only: glibc's vfork() keeps it there while parent and child share its slot on the stack.
 */
static inline uint64_t unwind_least(const struct unwind *walk, const struct unwind_rule *rule)
{
	if (walk->has_all && rule->return_address == UNWIND_SAVED_REGISTER)
		return 0;
	return unwind_growth(walk->is_leaf);
}

static inline void unwind_by_rule(struct unwind *walk, const struct unwind_rule *rule)
{
	uint64_t stack = walk->now.general[UNWIND_STACK_POINTER];
	uint64_t frame, saved[2];
	bool has[2];

	if (rule->return_address == UNWIND_SAVED_UNDEFINED)
		return unwind_stop(walk, USER_END_COMPLETE);
	if (!unwind_frame_address(walk, rule, &frame))
		return;
	if (frame < stack + unwind_least(walk, rule))
		return unwind_stop(walk, USER_END_BAD_FRAME);
	if (!unwind_read_saved(walk, rule, frame, saved, has))
		return unwind_stop(walk, USER_END_READ_FAULT);
	if (!has[1])
		return unwind_stop(walk, USER_END_UNSUPPORTED);
	walk->now.pc = unwind_address(saved[1]);
	walk->now.general[UNWIND_FRAME_POINTER] = saved[0];
	walk->now.general[UNWIND_STACK_POINTER] = frame;
	walk->has_pointer = has[0];
}

/* Goes to the interrupted code, on whatever stack it ran. The signal frame is stored as its address
 * + 1. */
static inline void unwind_by_signal_frame(struct unwind *walk)
{
	uint64_t from = walk->now.general[UNWIND_STACK_POINTER] + UNWIND_SIGNAL_AT;

	walk->shown = walk->now.pc + !walk->is_leaf;
	if (!unwind_read_user(walk, walk->saved, sizeof(walk->saved), from))
		return unwind_stop(walk, USER_END_READ_FAULT);
	unwind_restore(&walk->now, walk->saved);
	walk->has_pointer = true;
}

/*
 * The rule for the current frame. UNWIND_CFA_NONE: there is none, and the walk tries the frame
 * pointer. Returns the end of the walk that applies if the step leads to no code.
 */
static inline enum user_end unwind_rule_here(struct unwind *walk, struct unwind_rule *ret_rule)
{
	*ret_rule = (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
	if (!walk->is_known)
		return USER_END_NO_TABLE;
	if (!walk->is_mapped)
		return USER_END_NO_MAPPING;
	if (walk->mapping.flags & UNWIND_MAPPING_ANONYMOUS)
		return USER_END_BAD_FRAME;
	if (walk->mapping.table == 0) {
		walk->flags |= walk->mapping.flags & UNWIND_MAPPING_AWAITED;
		return USER_END_NO_TABLE;
	}
	if (!unwind_find_rule(walk, unwind_lookup_address(walk), ret_rule))
		return USER_END_NO_TABLE;
	if (ret_rule->cfa == UNWIND_CFA_NONE)
		return USER_END_NO_ROW;
	return ret_rule->cfa == UNWIND_CFA_FRAME_POINTER ? USER_END_BAD_FRAME : USER_END_NO_MAPPING;
}

/* True if the last round confirmed no caller: the walk is still at the same frame. */
static inline bool unwind_is_between(const struct unwind *walk)
{
	return UNWIND_MAY_GUESS && walk->guesses && !walk->is_tried && walk->end == USER_END_NONE;
}

/* One round of a step. The step is complete unless unwind_is_between(). */
static inline void unwind_round(struct unwind *walk)
{
	struct unwind_rule rule;
	enum user_end astray = unwind_rule_here(walk, &rule);

	walk->shown = walk->now.pc + (walk->is_exact && !walk->is_leaf);
	if (walk->is_mapped && !(walk->mapping.flags & UNWIND_MAPPING_ANONYMOUS))
		walk->file_code = walk->now.pc;
	if (UNWIND_MAY_GUESS && walk->is_mapped && walk->mapping.flags & UNWIND_MAPPING_ANONYMOUS)
		unwind_in_generated_code(walk);
	else if (rule.cfa == UNWIND_CFA_SIGNAL)
		unwind_by_signal_frame(walk);
	else if (rule.cfa == UNWIND_CFA_NONE || rule.cfa == UNWIND_CFA_FRAME_POINTER)
		unwind_by_frame_pointer(walk, rule.cfa == UNWIND_CFA_FRAME_POINTER, astray);
	else if (rule.cfa < UNWIND_CFA_UNSUPPORTED)
		unwind_by_rule(walk, &rule);
	else
		unwind_stop(walk, USER_END_UNSUPPORTED);
	if (walk->end == USER_END_NONE && !unwind_is_between(walk))
		unwind_arrive(walk, rule.cfa == UNWIND_CFA_SIGNAL, astray);
}

/* Goes from the current frame to its caller, or ends the walk. */
static inline void unwind_step(struct unwind *walk)
{
	do
		unwind_round(walk);
	while (unwind_is_between(walk));
}
