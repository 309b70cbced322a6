// SPDX-License-Identifier: Apache-2.0
/*
 * OTLP profiles. A decoded message can be encoded, and decodes again to the same number of samples.
 */
#include "wire/otlp_reader.h"
#include "wire/otlp_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct otlp_options options = { 0, UINT64_MAX };
	AUTO_ARENA arena = { 0 };
	struct sample_set set, again;
	struct otlp_result result;
	struct err err;

	sample_set_init(&set, &arena);
	if (!otlp_read((str){ (const char *)data, size }, &options, &set, &result, &err))
		return 0;

	size_t count = set.samples.len;
	str bytes = otlp_write(&set, 0, count, &arena);

	sample_set_init(&again, &arena);
	if (!otlp_read(bytes, &options, &again, &result, &err) || again.samples.len != count)
		abort();
	return 0;
}
