// SPDX-License-Identifier: Apache-2.0
/*
 * kernel_version - the texts in which a kernel reports its version, one a line: each is a version
 * or not, and a kernel is rejected with a complete error message.
 */
#include "agent/kernel/kernel_check.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	str rest = { (const char *)data, size };
	struct kernel_texts texts = { .release = str_cut(&rest, '\n'),
				      .version = str_cut(&rest, '\n'),
				      .signature = str_cut(&rest, '\n') };
	struct kernel_rules rules = { .lockdown = str_cut(&rest, '\n'),
				      .paranoid = str_cut(&rest, '\n'),
				      .uid_map = str_cut(&rest, '\n'),
				      .status = rest };
	struct kernel_version version;
	struct err err = { 0 };

	if (kernel_version_of(&texts, &version))
		assert(version.major <= UINT16_MAX && version.minor <= UINT16_MAX &&
		       version.patch <= UINT16_MAX &&
		       kernel_version_judge(version) < KERNEL_VERDICT_COUNT);
	if (!kernel_check_texts(&texts, &err))
		assert(err.code == ERR_INVALID && err.msg[0]);
	(void)kernel_obstacle(&rules, &arena);
	return 0;
}
