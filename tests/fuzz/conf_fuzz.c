/*
 * conf - durations and sizes from any text, without a number overflowing unseen.
 */
#include "chassis/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str text = { (const char *)data, size };
	uint64_t value;
	struct err err;

	if (!conf_duration(text, &value, &err) && err.code != ERR_INVALID)
		abort();
	if (!conf_bytes(text, &value, &err) && err.code != ERR_INVALID)
		abort();
	return 0;
}
