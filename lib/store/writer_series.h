// SPDX-License-Identifier: Apache-2.0
/*
 * writer_series - series and label pairs of a flush that may be new.
 */
#pragma once

#include "store/writer_flush.h"

/* Series, pairs and names of sample labels that may be new, in a transaction of their own. */
bool writer_series_put(struct flush *flush, struct err *err) MUST_CHECK;
