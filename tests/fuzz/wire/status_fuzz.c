// SPDX-License-Identifier: Apache-2.0
/*
 * AgentStatus, the content of a header of a Kafka message.
 */
#include "wire/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct agent_status status, again;
	struct err err;

	if (status_read((str){ (const char *)data, size }, &status, &arena, &err) &&
	    !status_read(status_write(&status, &arena), &again, &arena, &err))
		abort();
	return 0;
}
