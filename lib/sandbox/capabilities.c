// SPDX-License-Identifier: Apache-2.0
#include "sandbox/capabilities.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool capabilities_read(struct __user_cap_data_struct ret_sets[2], struct err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &header, ret_sets) == 0 || err_errno(err, "read capabilities");
}

uint64_t capability_or_admin(int capability)
{
	bool is_known = prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1;

	return UINT64_C(1) << (is_known ? capability : CAP_SYS_ADMIN);
}

/* The bounding set must shrink before the capability to shrink it is dropped. */
bool capabilities_drop_bounding(uint64_t kept)
{
	bool done = true;

	for (int i = 0; i <= CAP_LAST_CAP; i++)
		if (!(kept >> i & 1) && prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1 &&
		    prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0)
			done = false;
	return done;
}

bool capabilities_use(uint64_t used, struct err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];

	if (!capabilities_read(sets, err))
		return false;
	for (int i = 0; i < 2; i++)
		sets[i].effective = sets[i].permitted & (uint32_t)(used >> 32 * i);
	return syscall(SYS_capset, &header, sets) == 0 || err_errno(err, "use fewer capabilities");
}

bool capabilities_drop(uint64_t kept, struct err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];

	if (!capabilities_read(sets, err))
		return false;
	for (int i = 0; i < 2; i++) {
		sets[i].permitted &= (uint32_t)(kept >> 32 * i);
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	return (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
		syscall(SYS_capset, &header, sets) == 0) ||
	       err_errno(err, "drop capabilities");
}
