// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/map.h"
#include "querier/querier_limits.h"
#include "querier/symbolize/cached_binary_internal.h"

#include <sys/random.h>

enum { FIRST_SLOTS = 64 };

struct address_slot {
	uint64_t address, until_ns; /* 0: it never expires */
	const struct function_line *lines;
	uint32_t len, reason; /* both 0: the slot is free */
};

struct cached_binary *cached_binary_new(str build_id)
{
	struct arena arena = { 0 };
	struct cached_binary *binary = arena_new(&arena, struct cached_binary);

	binary->build_id = str_copy(&arena, build_id);
	binary->functions = arena_new(&arena, struct map);
	binary->functions->arena = binary->key.arena = &binary->arena;
	binary->cap = FIRST_SLOTS;
	binary->slots = arena_array(&arena, struct address_slot, binary->cap);
	if (getrandom(&binary->secret, sizeof(binary->secret), 0) < 0)
		binary->secret = (uintptr_t)binary;
	binary->arena = arena;
	pthread_rwlock_init(&binary->lock, NULL);
	return binary;
}

void cached_binary_free(struct cached_binary *binary)
{
	struct arena arena = binary->arena;

	pthread_rwlock_destroy(&binary->lock);
	arena_free(&arena);
}

static bool is_free(const struct address_slot *slot)
{
	return slot->len == 0 && slot->reason == NAME_KNOWN;
}

/*
 * The slot of the address, or the free slot where it belongs. Untrusted clients may choose the
 * addresses, so a secret is part of the hash.
 */
static struct address_slot *slot_of(const struct cached_binary *binary, uint64_t address)
{
	uint64_t mixed = (address ^ binary->secret) * UINT64_C(0xff51afd7ed558ccd);
	size_t at = (mixed ^ mixed >> 32) * UINT64_C(0xc4ceb9fe1a85ec53) >> 24;

	for (;; at++) {
		struct address_slot *slot = &binary->slots[at & (binary->cap - 1)];

		if (is_free(slot) || slot->address == address)
			return slot;
	}
}

static void grow(struct cached_binary *binary)
{
	const struct address_slot *old = binary->slots;
	size_t count = binary->cap;

	binary->cap *= 2;
	binary->slots = arena_array(&binary->arena, struct address_slot, binary->cap);
	for (size_t i = 0; i < count; i++)
		if (!is_free(&old[i]))
			*slot_of(binary, old[i].address) = old[i];
}

static str split_off(str *rest, size_t len)
{
	str part = { rest->ptr, len };

	*rest = str_skip(*rest, len);
	return part;
}

/* The function's texts point into the key of the map. */
static const struct function_symbol *function_of(struct cached_binary *binary,
						 const struct symbolized_line *line)
{
	struct buf *key = &binary->key;

	key->len = 0;
	buf_u32(key, line->start_line);
	buf_u32(key, (uint32_t)line->function.len);
	buf_u32(key, (uint32_t)line->system_name.len);
	buf_str(key, line->function);
	buf_str(key, line->system_name);
	buf_str(key, line->file);

	struct function_symbol *function = map_get(binary->functions, buf_bytes(key));

	if (function)
		return function;

	str texts = str_copy(&binary->arena, buf_bytes(key)), rest = str_skip(texts, 12);

	function = arena_new(&binary->arena, struct function_symbol);
	function->function = split_off(&rest, line->function.len);
	function->system_name = split_off(&rest, line->system_name.len);
	function->file = rest;
	function->start_line = line->start_line;
	*map_at(binary->functions, texts) = function;
	return function;
}

static void put_lines(struct cached_binary *binary, struct address_slot *slot,
		      const struct symbolized_location *location)
{
	struct function_line *lines =
		arena_array(&binary->arena, struct function_line, location->line_count);

	for (size_t i = 0; i < location->line_count; i++)
		lines[i] = (struct function_line){ function_of(binary, &location->lines[i]),
						   location->lines[i].line };
	slot->lines = lines;
	slot->len = (uint32_t)location->line_count;
	slot->until_ns = 0;
	slot->reason = NAME_KNOWN;
}

/*
 * NAME_NO_SYMBOL of a known debug file never expires: if the file changes, its generation does. All
 * other reasons may change at any time, so they expire.
 */
static void put_reason(const struct cached_binary *binary, struct address_slot *slot,
		       const struct symbolized_location *location,
		       const struct symbolize_exchange *exchange)
{
	slot->reason = location->reason;
	if (slot->reason == NAME_KNOWN)
		slot->reason = exchange->response->reason;
	if (slot->reason == NAME_KNOWN || slot->reason >= NAME_REASON_COUNT)
		slot->reason = NAME_NO_SYMBOL;
	slot->until_ns = exchange->requested_ns + SYMBOLS_FRESH_MS * NS_PER_MS;
	if (slot->reason == NAME_NO_SYMBOL && binary->generation)
		slot->until_ns = 0;
}

static void put_location(struct cached_binary *binary, uint64_t address,
			 const struct symbolized_location *location,
			 const struct symbolize_exchange *exchange)
{
	if ((binary->len + 1) * 2 > binary->cap)
		grow(binary);

	struct address_slot *slot = slot_of(binary, address);

	if (slot->len)
		return; /* another query has requested it as well */
	binary->len += is_free(slot);
	slot->address = address;
	if (location->line_count)
		put_lines(binary, slot, location);
	else
		put_reason(binary, slot, location, exchange);
}

bool cached_binary_put(struct cached_binary *binary, const struct symbolize_exchange *exchange)
{
	bool accepted;

	pthread_rwlock_wrlock(&binary->lock);
	accepted = !binary->has_generation || binary->generation == exchange->response->generation;
	if (accepted) {
		binary->has_generation = true;
		binary->generation = exchange->response->generation;
		if (binary->requested_ns < exchange->requested_ns)
			binary->requested_ns = exchange->requested_ns;
		for (size_t i = 0; i < exchange->request->address_count; i++)
			put_location(binary, exchange->request->addresses[i],
				     &exchange->response->locations[i], exchange);
	}
	pthread_rwlock_unlock(&binary->lock);
	return accepted;
}

bool cached_binary_accepts(struct cached_binary *binary, uint64_t generation)
{
	pthread_rwlock_rdlock(&binary->lock);

	bool accepts = !binary->has_generation || binary->generation == generation;

	pthread_rwlock_unlock(&binary->lock);
	return accepts;
}

uint64_t cached_binary_requested_ns(struct cached_binary *binary)
{
	pthread_rwlock_rdlock(&binary->lock);

	uint64_t requested_ns = binary->requested_ns;

	pthread_rwlock_unlock(&binary->lock);
	return requested_ns;
}

size_t cached_binary_memory_used(struct cached_binary *binary)
{
	pthread_rwlock_rdlock(&binary->lock);

	size_t used = binary->arena.size;

	pthread_rwlock_unlock(&binary->lock);
	return used;
}

size_t cached_binary_find(struct cached_binary *binary, const uint64_t *addresses, size_t count,
			  uint64_t now_ns, struct address_lines *resolved, uint32_t *ret_missing)
{
	size_t missing = 0;

	pthread_rwlock_rdlock(&binary->lock);
	for (size_t i = 0; i < count; i++) {
		const struct address_slot *slot = slot_of(binary, addresses[i]);

		if (is_free(slot) || (slot->until_ns && slot->until_ns <= now_ns))
			ret_missing[missing++] = (uint32_t)i;
		else
			resolved[i] = (struct address_lines){ slot->lines, slot->len,
							      (enum name_reason)slot->reason };
	}
	pthread_rwlock_unlock(&binary->lock);
	return missing;
}
