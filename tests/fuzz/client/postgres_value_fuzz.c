// SPDX-License-Identifier: Apache-2.0
/*
 * postgres_value - any bytes are decoded as an array of int8 or rejected, and encoding the array
 * gives the same values again.
 */
#include "client/postgres_value.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	str bytes = { (const char *)data, size };
	int64_t *values, *again;
	size_t count, count_again;

	(void)postgres_number(bytes);
	if (!postgres_i64s_read(bytes, &arena, &values, &count))
		return 0;
	assert(count <= size / sizeof(*values));

	struct postgres_param param = postgres_i64s(&arena, values, count);

	assert(postgres_i64s_read(param.bytes, &arena, &again, &count_again));
	assert(count_again == count);
	for (size_t i = 0; i < count; i++)
		assert(again[i] == values[i]);
	return 0;
}
