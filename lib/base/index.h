// SPDX-License-Identifier: Apache-2.0
/*
 * index - a hash table from the hash of a key to an item; the key is part of the item.
 *
 * An item is a value of any type: the number of an element in an array, a pointer to an object, or
 * a small struct. The caller computes the hash and compares keys, so an index serves keys of every
 * type. "base/map.h" is an index with texts as keys.
 *
 *     INDEX(struct process *) by_pid = { 0 };
 *     struct process **found = index_find(&by_pid, hash, each, each->pid == pid);
 *     *index_at(NULL, &by_pid, hash, each, each->pid == pid) = process;
 *
 * Open addressing with linear probing; at most half of the slots are used. A slot also stores a
 * part of the hash, so that most keys that differ are never compared and growing computes no hash.
 * If untrusted input chooses the keys, the hash must be seeded: hash_seeded(), hash_seeded_u64().
 *
 * The memory belongs to an arena or, if the caller passes NULL for the arena, to the heap. An index
 * on the heap is freed with index_done(). A zeroed index is valid and empty. Pointers to items are
 * valid until an item is added or removed. One thread. No operation fails.
 */
#pragma once

#include "base/arena.h"
#include "base/heap.h"

#include <string.h>

/* The mark of a slot is 0 if the slot is free; else it is the low half of the hash, with the
 * highest bit set. The mark is the first member of each slot, whatever the type of the items. */
#define INDEX(type)                    \
	struct {                       \
		struct {               \
			uint32_t mark; \
			type item;     \
		} * slots;             \
		size_t cap, len;       \
	}

#define INDEX_MARK(hash) ((uint32_t)(hash) | UINT32_C(1) << 31)

/* Private: the slot of the item, or the free slot where it belongs. The index is not empty. */
#define index_slot_(index, hash, each, is_equal)                                    \
	({                                                                          \
		const uint32_t mark_ = INDEX_MARK(hash);                            \
		const size_t mask_ = (index)->cap - 1;                              \
		__typeof__((index)->slots + 0) slots_ = (index)->slots;             \
		size_t at_ = mark_ & mask_;                                         \
		for (; slots_[at_].mark; at_ = (at_ + 1) & mask_) {                 \
			if (slots_[at_].mark != mark_)                              \
				continue;                                           \
			const __typeof__(slots_[at_].item) each = slots_[at_].item; \
			if (is_equal)                                               \
				break;                                              \
		}                                                                   \
		&slots_[at_];                                                       \
	})

/*
 * A pointer to the item with that hash for which the condition `is_equal` is true; NULL if there is
 * none. The condition refers to the item through the variable `each`, whose name the caller
 * chooses.
 */
#define index_find(index, hash, each, is_equal)                                         \
	({                                                                              \
		__typeof__((index)->slots + 0) found_ =                                 \
			(index)->len ? index_slot_(index, hash, each, is_equal) : NULL; \
		found_ && found_->mark ? &found_->item : NULL;                          \
	})

/* Like index_find(), but an absent item is added: its bytes are zero, and the caller sets them
 * before the next use of the index. If it was added, `len` has grown. arena NULL: on the heap. */
#define index_at(arena, index, hash, each, is_equal)                   \
	({                                                             \
		const uint32_t new_mark_ = INDEX_MARK(hash);           \
		index_make_room_(arena, index, (index)->len + 1);      \
		__typeof__((index)->slots + 0) place_ =                \
			index_slot_(index, new_mark_, each, is_equal); \
		if (!place_->mark) {                                   \
			place_->mark = new_mark_;                      \
			(index)->len++;                                \
		}                                                      \
		&place_->item;                                         \
	})

/* Grow at once for `count` items. arena NULL: on the heap. */
#define index_reserve(arena, index, count) index_make_room_(arena, index, count)

/* Remove an item, given the pointer that index_find(), index_at() or index_for_each() returned. A
 * loop of index_for_each() must not go on after it. */
#define index_remove(index, removed)                                                        \
	index_remove_at_((index), sizeof(*(index)->slots),                                  \
			 (size_t)((const char *)(removed) - (const char *)(index)->slots) / \
				 sizeof(*(index)->slots))

/* Remove each item for which the condition `is_kept` is false. The condition may be evaluated twice
 * for an item. */
#define index_keep(index, each, is_kept)                                                \
	for (size_t at_ = 0; at_ < (index)->cap;) {                                     \
		const __typeof__((index)->slots->item) each = (index)->slots[at_].item; \
		if ((index)->slots[at_].mark && !(is_kept))                             \
			index_remove_at_((index), sizeof(*(index)->slots), at_);        \
		else                                                                    \
			at_++;                                                          \
	}

/* Loop over all items, in no particular order; `each` is a pointer to the item. */
#define index_for_each(index, each)                                                             \
	for (__typeof__(&(index)->slots->item) each = index_next_(index, (index)->slots); each; \
	     each = index_next_(index, index_slot_of_(index, each) + 1))

/* Remove all items; the memory is kept. */
#define index_clear(index)                                                                        \
	((index)->len ? memset((index)->slots, 0, (index)->cap * sizeof(*(index)->slots)) : NULL, \
	 (void)((index)->len = 0))

/* Free an index on the heap, but not what its items point to. The index is then empty. */
#define index_done(index) \
	(free((index)->slots), (index)->slots = NULL, (void)((index)->cap = (index)->len = 0))

/* ---- private ---- */

#define index_make_room_(arena, index, count)                                      \
	((count)*2 > (index)->cap                                                  \
		 ? index_grow_((arena), (index), sizeof(*(index)->slots), (count)) \
		 : (void)0)

#define index_slot_of_(index, slot_item)                                                    \
	((__typeof__((index)->slots + 0))(uintptr_t)((const char *)(slot_item) -            \
						     ((const char *)&(index)->slots->item - \
						      (const char *)(index)->slots)))

/* The item of the first used slot from `from` on. */
#define index_next_(index, from)                                                       \
	({                                                                             \
		__typeof__((index)->slots + 0) next_ = (from);                         \
		while (next_ && next_ < (index)->slots + (index)->cap && !next_->mark) \
			next_++;                                                       \
		next_ &&next_ < (index)->slots + (index)->cap ? &next_->item : NULL;   \
	})

static inline uint32_t index_mark_(const char *slots, size_t size, size_t at)
{
	uint32_t mark;

	memcpy(&mark, slots + at * size, sizeof(mark));
	return mark;
}

/* Not inline: it is rare, and every index would have a copy of it. */
void index_grow_(struct arena *arena, void *index, size_t size, size_t count);
void index_remove_at_(void *index, size_t size, size_t at);
