// SPDX-License-Identifier: Apache-2.0
/*
 * external_labels - what --metadata-external-labels says: labels of every series of this host.
 * Pure.
 */
#pragma once

#include "base/err.h"
#include "profile/labels.h"

/*
 * "zone=a,rack=7" or "zone=a;rack=7". Texts borrow. ERR_INVALID names the part that is not k=v,
 * whose name is no label name, or whose name the agent gives itself.
 */
bool external_labels_parse(str text, struct arena *arena, struct labels *ret_labels,
			   struct err *err) MUST_CHECK;
