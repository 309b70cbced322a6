// SPDX-License-Identifier: Apache-2.0
/*
 * host - the list of online CPUs: any text is parsed or rejected, and a parsed list is bounded.
 */
#include "agent/agent_limits.h"
#include "agent/labels/host.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct err err = { 0 };
	uint32_t *cpus;
	size_t count;

	if (!host_cpus_parse((str){ (const char *)data, size }, &arena, &cpus, &count, &err)) {
		assert(err.code == ERR_INVALID && err.msg[0]);
		return 0;
	}
	assert(count > 0 && count <= CPUS_MAX);
	for (size_t i = 0; i < count; i++)
		assert(cpus[i] < CPUS_MAX);
	return 0;
}
