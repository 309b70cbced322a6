// SPDX-License-Identifier: Apache-2.0
#include "profile/labels.h"

/* In the order of the documentation: the most used labels first. */
const struct label_source label_sources[] = {
	{ "node", "host.name", false, false, "The host's name." },
	{ "comm", "process.executable.name", false, false,
	  "The process's name: the comm as of its last exec. Of a process without exec, as of its "
	  "first sample. A process that renames itself later makes no new series." },
	{ "exe", "process.executable.path", false, false, "Path of the program." },
	{ "service_name", "service.name", false, false,
	  "The service. If it is not set: the Compose service, the container, the unit or the "
	  "comm." },
	{ "container_id", "container.id", false, false, "The container runtime's id." },
	{ "container", "container.name", false, false, "The container's name." },
	{ "image", "container.image.name", false, false, "The container's image." },
	{ "compose_service", "decima.compose.service", false, false,
	  "The service of Docker Compose; each replica is a container." },
	{ "compose_project", "decima.compose.project", false, false,
	  "The project of Docker Compose." },
	{ "pod", "k8s.pod.name", false, false, "The Kubernetes pod." },
	{ "namespace", "k8s.namespace.name", false, false, "The Kubernetes namespace." },
	{ "cgroup", "decima.cgroup", false, false, "Path of the control group." },
	{ "unit", "decima.unit", false, false, "The systemd unit." },
	{ "pid", "process.pid", true, true, "The process's id on its host." },
	{ "thread_id", "thread.id", true, true, "The thread's id on its host." },
	{ "thread_name", "thread.name", true, false, "The thread's own comm." },
	{ "cpu", "cpu.logical_number", true, true, "The CPU that the thread ran on." },
	{ "unwind", "decima.unwind", true, false,
	  "`guess`: callers of generated code were guessed. Other stacks do not have it." },
};
const size_t label_source_count = ARRAY_LEN(label_sources);

const struct label_source *label_source_by_name(str name)
{
	for (size_t i = 0; i < label_source_count; i++)
		if (str_eq(str_from(label_sources[i].name), name))
			return &label_sources[i];
	return NULL;
}

const struct label_source *label_source_by_attribute(str attribute, bool of_sample)
{
	for (size_t i = 0; i < label_source_count; i++)
		if (label_sources[i].of_sample == of_sample &&
		    str_eq(str_from(label_sources[i].attribute), attribute))
			return &label_sources[i];
	return NULL;
}

str label_name_of_attribute(str attribute, struct arena *arena)
{
	char *name = arena_array(arena, char, attribute.len + 1);

	for (size_t i = 0; i < attribute.len; i++) {
		name[i] = attribute.ptr[i];
		if (name[i] == '.')
			name[i] = '_';
	}
	return (str){ name, attribute.len };
}

bool label_name_is_reserved(str name)
{
	return str_starts_with(name, STR("__"));
}

/* Label sets are small. An insertion sort is stable, so the last of equal names is known. */
struct labels labels_of(struct label *items, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++) {
		struct label label = items[i];
		size_t at = count;

		while (at > 0 && str_compare(items[at - 1].name, label.name) > 0)
			at--;
		if (at > 0 && str_eq(items[at - 1].name, label.name)) {
			items[at - 1] = label;
			continue;
		}
		memmove(&items[at + 1], &items[at], (count - at) * sizeof(*items));
		items[at] = label;
		count++;
	}
	return (struct labels){ items, count };
}

str labels_get(struct labels labels, str name)
{
	for (size_t i = 0; i < labels.len; i++)
		if (str_eq(labels.items[i].name, name))
			return labels.items[i].value;
	return (str){ 0 };
}

int labels_compare(struct labels a, struct labels b)
{
	for (size_t i = 0; i < a.len && i < b.len; i++) {
		int order = str_compare(a.items[i].name, b.items[i].name);

		if (order == 0)
			order = str_compare(a.items[i].value, b.items[i].value);
		if (order)
			return order;
	}
	return (a.len > b.len) - (a.len < b.len);
}

bool labels_eq(struct labels a, struct labels b)
{
	return a.len == b.len && labels_compare(a, b) == 0;
}

struct labels labels_copy(struct arena *arena, struct labels labels)
{
	struct label *items = arena_array(arena, struct label, labels.len);

	for (size_t i = 0; i < labels.len; i++) {
		items[i].name = str_copy(arena, labels.items[i].name);
		items[i].value = str_copy(arena, labels.items[i].value);
	}
	return (struct labels){ items, labels.len };
}

void labels_hash_input(struct labels labels, struct buf *buf)
{
	buf_varint(buf, labels.len);
	for (size_t i = 0; i < labels.len; i++) {
		buf_str_prefixed(buf, labels.items[i].name);
		buf_str_prefixed(buf, labels.items[i].value);
	}
}

struct labels labels_with_service_name(struct labels labels, struct arena *arena)
{
	static const char *const fallbacks[] = { "compose_service", "container", "unit", "comm" };
	str service = labels_get(labels, STR("service_name"));

	if (service.len)
		return labels;
	for (size_t i = 0; i < ARRAY_LEN(fallbacks) && !service.len; i++)
		service = labels_get(labels, str_from(fallbacks[i]));
	if (!service.len)
		service = STR("unknown");

	struct label *items = arena_array(arena, struct label, labels.len + 1);

	if (labels.len)
		memcpy(items, labels.items, labels.len * sizeof(*items));
	items[labels.len] = (struct label){ STR("service_name"), service };
	return labels_of(items, labels.len + 1);
}
