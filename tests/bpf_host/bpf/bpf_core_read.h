// SPDX-License-Identifier: Apache-2.0
/*
 * bpf_core_read - replaces libbpf's header: on the host a field has the compiler's offset.
 */
#pragma once

#define BPF_CORE_READ_2(p, member)            ((p)->member)
#define BPF_CORE_READ_3(p, first, then)       ((p)->first->then)
#define BPF_CORE_READ_OF(_1, _2, _3, OF, ...) OF
#define BPF_CORE_READ(...) \
	BPF_CORE_READ_OF(__VA_ARGS__, BPF_CORE_READ_3, BPF_CORE_READ_2, 0)(__VA_ARGS__)
#define BPF_CORE_READ_BITFIELD_PROBED(p, member) ((p)->member)
#define bpf_core_field_exists(member)            (true)
