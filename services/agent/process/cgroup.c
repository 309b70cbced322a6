// SPDX-License-Identifier: Apache-2.0
#include "agent/process/cgroup_internal.h"

enum { CONTAINER_ID_LEN = 64 };

/* The path is taken from the first of these hierarchies that has one: unified, systemd's, others.
 */
static const char *const hierarchies[] = { "",    "name=systemd", "memory", "cpu,cpuacct",
					   "cpu", "pids" };

static bool is_hex(str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!((s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f')))
			return false;
	return true;
}

/* Splits the next line, "12:memory:/path". False: no more lines. */
static bool next_line(str *text, str *ret_controllers, str *ret_path)
{
	while (text->len) {
		str line = str_cut(text, '\n');

		str_cut(&line, ':');
		*ret_controllers = str_cut(&line, ':');
		*ret_path = line;
		if (str_starts_with(line, STR("/")))
			return true;
	}
	return false;
}

static str path_of_hierarchy(str text, str wanted)
{
	str controllers, path;

	while (next_line(&text, &controllers, &path))
		if (str_eq(controllers, wanted) && path.len > 1)
			return path;
	return (str){ 0 };
}

static str main_path(str text)
{
	str controllers, path;

	for (size_t i = 0; i < ARRAY_LEN(hierarchies); i++) {
		path = path_of_hierarchy(text, str_from(hierarchies[i]));
		if (path.len)
			return path;
	}
	while (next_line(&text, &controllers, &path))
		if (path.len > 1)
			return path;
	return STR("/");
}

/* What follows the last separator: "docker-ID", "...:cri-containerd:ID". */
static str after_last(str s, char separator)
{
	for (size_t i = s.len; i > 0; i--)
		if (s.ptr[i - 1] == separator)
			return str_skip(s, i);
	return s;
}

static str id_of_component(str component, str before)
{
	/* conmon monitors a container and does not run in it. */
	if (str_find(component, STR("conmon")) != SIZE_MAX)
		return (str){ 0 };
	if (str_ends_with(component, STR(".scope")))
		component.len -= sizeof(".scope") - 1;

	str id = after_last(after_last(component, ':'), '-');

	if (id.len == CONTAINER_ID_LEN && is_hex(id))
		return id;
	if (str_eq(before, STR("lxc")) || str_eq(before, STR("lxc.payload")))
		return component;
	if (str_starts_with(component, STR("lxc.payload.")))
		return str_skip(component, sizeof("lxc.payload.") - 1);
	return (str){ 0 };
}

/* The outermost container: containers inside a container belong to the one that the host knows. */
static str container_of_path(str path)
{
	str before = { 0 };

	while (path.len) {
		str component = str_cut(&path, '/');
		str id = id_of_component(component, before);

		if (id.len)
			return id;
		before = component;
	}
	return (str){ 0 };
}

static str container_of(str text)
{
	str controllers, path;

	while (next_line(&text, &controllers, &path)) {
		str id = container_of_path(path);

		if (id.len)
			return id;
	}
	return (str){ 0 };
}

/* The first component that is a service or scope; slices only group units. */
static str unit_of_path(str path)
{
	while (path.len) {
		str component = str_cut(&path, '/');

		if (str_ends_with(component, STR(".service")) ||
		    str_ends_with(component, STR(".scope")))
			return component;
	}
	return (str){ 0 };
}

/* "user-1000.slice", below which the user may make cgroups of any name. Not root's: in a session of
 * root any user's processes may run. */
static str user_slice_of(str path)
{
	if (!str_eq(str_cut(&path, '/'), STR("")) ||
	    !str_eq(str_cut(&path, '/'), STR("user.slice")))
		return (str){ 0 };

	str slice = str_cut(&path, '/');

	return str_starts_with(slice, STR("user-")) && !str_eq(slice, STR("user-0.slice"))
		       ? slice
		       : (str){ 0 };
}

struct cgroup_names cgroup_names_of(str text)
{
	struct cgroup_names names = { .path = main_path(text), .container_id = container_of(text) };

	names.unit = unit_of_path(names.path);
	/* docker-ID.scope only repeats the id, and would be another unit name at each start. */
	if (names.container_id.len && str_find(names.unit, names.container_id) != SIZE_MAX)
		names.unit = (str){ 0 };
	names.domain = user_slice_of(names.path);
	if (!names.domain.len)
		names.domain = names.container_id;
	return names;
}
