// SPDX-License-Identifier: Apache-2.0
/*
 * rights - the capabilities of the agent.
 */
#pragma once

#include "base/err.h"

/*
 * Gives up all capabilities that the agent does not need, for the calling thread and for the
 * threads and processes that it starts later. The bpffs must be mounted before. ERR_IO: the
 * capabilities cannot be changed.
 */
bool rights_limit(struct err *err) MUST_CHECK;
