// SPDX-License-Identifier: Apache-2.0
/*
 * map_users - finds out whether a BPF program uses a map.
 *
 * By an iterator over all programs (bpf/map_users.bpf.c), for which CAP_BPF and CAP_PERFMON are
 * enough.
 */
#pragma once

#include "base/err.h"

struct map_users {
	struct map_users_bpf *bpf;
};

/* Loads the iterator. ERR_IO, ERR_INVALID: the kernel refuses it. The caller closes with
 * map_users_done(), also after an error. */
bool map_users_init(struct map_users *users, uint32_t map_id, struct err *err) MUST_CHECK;

/* Sets whether a loaded program of any process uses the map. ERR_IO: the kernel does not say. */
bool map_users_find(struct map_users *users, bool *ret_is_used, struct err *err) MUST_CHECK;

/* Accepts a zeroed struct. */
void map_users_done(struct map_users *users);
