// SPDX-License-Identifier: Apache-2.0
/*
 * capabilities - gives up capabilities of the calling thread, for good.
 *
 * Threads and processes that it starts later have no others. Sets of capabilities are bits:
 * 1 << CAP_BPF. Any thread.
 */
#pragma once

#include "base/err.h"

#include <linux/capability.h>

/* ERR_IO: the sets cannot be read. */
bool capabilities_read(struct __user_cap_data_struct ret_sets[2], struct err *err) MUST_CHECK;

/* The bit of a capability. If the kernel or the container engine does not know it, that of
 * CAP_SYS_ADMIN, which includes CAP_BPF, CAP_PERFMON and CAP_CHECKPOINT_RESTORE. */
uint64_t capability_or_admin(int capability);

/* The thread uses those of `used` that it has, and keeps all. For a trial: what is possible without
 * the others? ERR_IO: nothing has changed. */
bool capabilities_use(uint64_t used, struct err *err) MUST_CHECK;

/* Programs that are executed later cannot have more than `kept`. Called before
 * capabilities_drop(). False: CAP_SETPCAP is missing; nothing is lost by that if the thread has no
 * more than `kept`. */
bool capabilities_drop_bounding(uint64_t kept);

/* The thread keeps those of `kept` that it has. ERR_IO: it has them all still. */
bool capabilities_drop(uint64_t kept, struct err *err) MUST_CHECK;
