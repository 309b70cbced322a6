// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/rights.h"

#include "sandbox/capabilities.h"

/* docs/operations.md has this list with reasons. */
static const int needed[] = {
	/* to sample, and to read what is sampled */
	CAP_SYS_PTRACE,
	CAP_DAC_READ_SEARCH,
	CAP_SYSLOG,
	CAP_SYS_NICE,
	/* memory of BPF maps and buffers: Linux before 5.11 counts it as locked memory */
	CAP_IPC_LOCK,
	CAP_SYS_RESOURCE,
	/* to take the privileges from processes that parse files, and to end them */
	CAP_SETUID,
	CAP_SETGID,
	CAP_SETPCAP,
	CAP_KILL,
};

bool rights_limit(struct err *err)
{
	uint64_t kept = capability_or_admin(CAP_BPF) | capability_or_admin(CAP_PERFMON) |
			capability_or_admin(CAP_CHECKPOINT_RESTORE);

	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		kept |= UINT64_C(1) << needed[i];
	/* In a container CAP_SETPCAP is missing; the engine has limited the set. */
	(void)capabilities_drop_bounding(kept);
	return capabilities_drop(kept, err);
}
