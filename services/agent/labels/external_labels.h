// SPDX-License-Identifier: Apache-2.0
/*
 * external_labels - parses --metadata-external-labels: labels of every series of this host. Pure:
 * any thread.
 */
#pragma once

#include "base/err.h"
#include "profile/labels.h"

/*
 * Parses "zone=a,rack=7" or "zone=a;rack=7". The array is in the arena, the texts borrow from
 * `text`. ERR_INVALID names the item that is not name=value, whose name is no label name, is
 * reserved or is set by the agent itself, or whose value is empty, too long or not UTF-8.
 * ERR_LIMIT: more than EXTERNAL_LABELS_MAX labels. On failure *ret_labels is unchanged.
 */
bool external_labels_parse(str text, struct arena *arena, struct labels *ret_labels,
			   struct err *err) MUST_CHECK;
