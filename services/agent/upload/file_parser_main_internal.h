// SPDX-License-Identifier: Apache-2.0
/*
 * file_parser_main - the process's own side of "agent/upload/file_parser_internal.h".
 */
#pragma once

/* The whole process; the result is the exit status. */
int file_parser_main(const char *uid);
