// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/rights.h"

#include "base/log.h"
#include "sandbox/capabilities.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static bool perf_is_forbidden(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY };
	AUTO_FD fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 && (errno == EACCES || errno == EPERM);
}

/*
 * Some kernels of distributions (Debian's 5.10) have kernel.perf_event_paranoid=3, which only
 * CAP_SYS_ADMIN overrules there. So it is tried whether an event can be opened with `kept`.
 */
static uint64_t admin_if_perf_needs_it(uint64_t kept, struct err *err)
{
	uint64_t admin = UINT64_C(1) << CAP_SYS_ADMIN;
	bool needed_for_perf;

	if (kept & admin || !capabilities_use(kept, err))
		return 0;
	needed_for_perf = perf_is_forbidden();
	if (!capabilities_use(UINT64_MAX, err) || !needed_for_perf || perf_is_forbidden())
		return 0;
	log_info("perf events need CAP_SYS_ADMIN on this kernel, which is kept");
	return admin;
}

bool rights_limit(struct err *err)
{
	uint64_t kept = capability_or_admin(CAP_BPF) | capability_or_admin(CAP_PERFMON) |
			capability_or_admin(CAP_CHECKPOINT_RESTORE);

	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		kept |= UINT64_C(1) << needed[i];
	kept |= admin_if_perf_needs_it(kept, err);
	/* In a container CAP_SETPCAP is missing; the engine has limited the set. */
	(void)capabilities_drop_bounding(kept);
	return capabilities_drop(kept, err);
}
