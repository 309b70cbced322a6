// SPDX-License-Identifier: Apache-2.0
#include "base/sorted.h"
#include "store/write/fence_groups_internal.h"

#include <stdlib.h>

static int compare(str host, uint64_t epoch, const struct store_host *other)
{
	int by = str_compare(host, other->host);

	return by ? by : (epoch > other->epoch) - (epoch < other->epoch);
}

static int compare_hosts(const void *a, const void *b)
{
	const struct fence_host *x = a, *y = b;

	return compare(x->host->host, x->host->epoch, y->host);
}

/* The root of the part's tree. Each visit halves the path, so later visits are short. */
static size_t root_of(struct fence_groups *groups, size_t part)
{
	size_t *parents = groups->parents;

	while (parents[part] != part) {
		parents[part] = parents[parents[part]];
		part = parents[part];
	}
	return part;
}

void fence_groups_init(struct fence_groups *groups, const struct store_flush_part *parts,
		       size_t count, struct arena *arena)
{
	size_t all = 0, distinct = 0;

	for (size_t i = 0; i < count; i++)
		all += parts[i].host_count;
	*groups = (struct fence_groups){
		.hosts = arena_array(arena, struct fence_host, all),
		.parents = arena_array(arena, size_t, count),
		.part_count = count,
	};
	all = 0;
	for (size_t i = 0; i < count; i++) {
		groups->parents[i] = i;
		for (size_t j = 0; !parts[i].lost && j < parts[i].host_count; j++)
			groups->hosts[all++] = (struct fence_host){ parts[i].hosts[j], i };
	}
	if (all)
		qsort(groups->hosts, all, sizeof(*groups->hosts), compare_hosts);
	for (size_t i = 0; i < all; i++) {
		const struct fence_host host = groups->hosts[i];

		if (distinct && compare_hosts(&groups->hosts[distinct - 1], &host) == 0)
			groups->parents[root_of(groups, host.part)] =
				root_of(groups, groups->hosts[distinct - 1].part);
		else
			groups->hosts[distinct++] = host;
	}
	groups->host_count = distinct;
}

const struct fence_host *fence_groups_host(const struct fence_groups *groups, str host,
					   uint64_t epoch)
{
	size_t at = sorted_before(groups->hosts, groups->host_count, each,
				  compare(host, epoch, each->host) > 0);

	return at < groups->host_count && compare(host, epoch, groups->hosts[at].host) == 0
		       ? &groups->hosts[at]
		       : NULL;
}

size_t fence_groups_lose(struct fence_groups *groups, struct store_flush_part *parts, size_t part)
{
	size_t root = root_of(groups, part), lost = 0;

	for (size_t i = 0; i < groups->part_count; i++) {
		if (parts[i].lost || root_of(groups, i) != root)
			continue;
		parts[i].lost = true;
		lost++;
	}
	return lost;
}
