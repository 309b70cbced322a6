// SPDX-License-Identifier: Apache-2.0
/*
 * directory - where a service keeps its files: made if it is not there, its parents too.
 */
#pragma once

#include "base/err.h"

/*
 * Open it. What is missing of the path is made: the directory itself for its owner and group alone,
 * its parents for everybody to look through. ERR_INVALID: an empty path or one too long.
 */
bool directory_open(const char *path, int *ret_fd, struct err *err) MUST_CHECK;
