// SPDX-License-Identifier: Apache-2.0
/*
 * failpoints - the ingester's failpoints: its own, and those of the libraries that store for it.
 */
#pragma once

#include "base/failpoint.h"

extern struct failpoint failpoint_in_revoke;

extern const struct failpoint_table ingester_failpoints;
