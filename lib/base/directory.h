// SPDX-License-Identifier: Apache-2.0
/*
 * directory - opens a service's state directory and creates it, with its parents, if it is missing.
 */
#pragma once

#include "base/err.h"

/*
 * Open the directory. A missing directory is created with mode 0750, its missing parents with 0755.
 * The caller closes *ret_fd. Failures: ERR_INVALID if the path is empty or longer than PATH_MAX - 1
 * bytes; ERR_IO or ERR_NOT_FOUND, as err_errno() sets them, if the system refuses a step.
 * Directories that were created before the failure stay. Any thread.
 */
bool directory_open(const char *path, int *ret_fd, struct err *err) MUST_CHECK;
