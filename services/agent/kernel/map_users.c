// SPDX-License-Identifier: Apache-2.0
#include "agent/kernel/map_users.h"

#include "map_users.skel.h"

#include <bpf/bpf.h>
#include <unistd.h>

bool map_users_init(struct map_users *users, uint32_t map_id, struct err *err)
{
	*users = (struct map_users){ .bpf = map_users_bpf__open() };
	if (!users->bpf)
		return err_errno(err, "open the iterator of BPF programs");
	users->bpf->rodata->map_id = map_id;
	if (map_users_bpf__load(users->bpf) || map_users_bpf__attach(users->bpf))
		return err_errno(err, "load the iterator of BPF programs");
	return true;
}

bool map_users_find(struct map_users *users, bool *ret_is_used, struct err *err)
{
	AUTO_FD fd = bpf_iter_create(bpf_link__fd(users->bpf->links.find_users));
	char byte;
	ssize_t len = fd >= 0 ? read(fd, &byte, sizeof(byte)) : -1;

	if (len < 0)
		return err_errno(err, "read the iterator of BPF programs");
	*ret_is_used = len > 0;
	return true;
}

void map_users_done(struct map_users *users)
{
	map_users_bpf__destroy(users->bpf);
}
