// SPDX-License-Identifier: Apache-2.0
/*
 * external_labels - parses --metadata-external-labels: labels of every series of this host. Pure.
 */
#pragma once

#include "base/err.h"
#include "profile/labels.h"

/*
 * Parses "zone=a,rack=7" or "zone=a;rack=7". The texts borrow from `text`. ERR_INVALID names an
 * item that is not name=value, whose name is not a label name, or whose name is a label that the
 * agent sets itself. ERR_LIMIT: more than EXTERNAL_LABELS_MAX labels.
 */
bool external_labels_parse(str text, struct arena *arena, struct labels *ret_labels,
			   struct err *err) MUST_CHECK;
