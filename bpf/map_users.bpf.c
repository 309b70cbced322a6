// SPDX-License-Identifier: GPL-2.0
/*
 * map_users - finds out whether a loaded program of any process uses a map.
 *
 * An iterator over all programs (Linux 5.9 and later). For each program that uses the map, the
 * reader of the iterator gets one byte. bpf(BPF_PROG_GET_NEXT_ID) would need CAP_SYS_ADMIN.
 */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

READ_ONLY uint32_t map_id; /* set before the program is loaded */

char LICENSE[] SEC("license") = "GPL";

enum { MAPS_PER_PROGRAM_MAX = 64 }; /* the kernel's bound, MAX_USED_MAPS */

SEC("iter/bpf_prog")
int find_users(struct bpf_iter__bpf_prog *context)
{
	struct bpf_prog *prog = context->prog;

	if (!prog)
		return 0;

	struct bpf_map **maps = prog->aux->used_maps;
	uint32_t count = prog->aux->used_map_cnt;

	for (uint32_t i = 0; i < MAPS_PER_PROGRAM_MAX && i < count; i++) {
		struct bpf_map *map = NULL;

		bpf_probe_read_kernel(&map, sizeof(map), maps + i);
		if (map && BPF_CORE_READ(map, id) == map_id) {
			bpf_seq_write(context->meta->seq, "", 1);
			return 0;
		}
	}
	return 0;
}
