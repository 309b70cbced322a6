// SPDX-License-Identifier: Apache-2.0
/* resolve_shared - the part of a request that other replicas may have done, or are doing. */
#pragma once

#include "resolve_work.h"

/* Answer by what others have put into Redis, or begin where it is our turn. */
void resolve_shared(struct work *work);
