// SPDX-License-Identifier: Apache-2.0
#include "store/compact/rollup.h"

size_t rollup_sum(struct sample *samples, size_t count,
		  int (*compare)(const void *left, const void *right))
{
	size_t last = 0;

	if (count == 0)
		return 0;
	qsort(samples, count, sizeof(*samples), compare);
	for (size_t i = 1; i < count; i++) {
		if (compare(&samples[last], &samples[i]) == 0)
			samples[last].value = (int64_t)((uint64_t)samples[last].value +
							(uint64_t)samples[i].value);
		else
			samples[++last] = samples[i];
	}
	return last + 1;
}
