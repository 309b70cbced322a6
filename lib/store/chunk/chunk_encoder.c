// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_encoder_internal.h"

/* Strings and origins are numbered as they are first met. */
uint64_t chunk_encoder_number(struct map *map, str key, bool *ret_new)
{
	void **value = map_at(map, key);

	*ret_new = !*value;
	if (!*value)
		*value = (void *)(uintptr_t)map->len;
	return (uintptr_t)*value - 1;
}

uint64_t chunk_encoder_string(struct chunk_encoder *encoder, str text)
{
	bool is_new;
	uint64_t number = chunk_encoder_number(&encoder->strings, text, &is_new);

	if (is_new)
		buf_str_prefixed(&encoder->columns[CHUNK_STRINGS], text);
	return number;
}

size_t chunk_encoder_raw_len(const struct buf *columns, size_t first, size_t end)
{
	size_t raw = 0;

	for (size_t i = first; i < end; i++)
		raw += columns[i].len;
	return raw;
}
