// SPDX-License-Identifier: Apache-2.0
/*
 * directory - opens a service's state directory and creates it, with its parents, if it is missing.
 */
#pragma once

#include "base/err.h"

/*
 * Open the directory. A missing directory is created with mode 0750, its missing parents with 0755.
 * The caller closes *ret_fd. ERR_INVALID: the path is empty or too long.
 */
bool directory_open(const char *path, int *ret_fd, struct err *err) MUST_CHECK;
