// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/request_path.h"

#include "debuginfo/debuginfo_limits.h"

const char *const request_kind_names[REQUEST_KIND_COUNT] = { REQUEST_KINDS(NAMED_TEXT) };

static bool kind_parse(str name, enum request_kind *ret_kind)
{
	for (enum request_kind kind = 0; kind < REQUEST_KIND_COUNT; kind++)
		if (str_eq(name, str_from(request_kind_names[kind]))) {
			*ret_kind = kind;
			return true;
		}
	return false;
}

static bool name_check(enum request_kind kind, str name, struct err *err)
{
	bool has_nul = name.len && memchr(name.ptr, 0, name.len);

	switch (kind) {
	case REQUEST_DEBUGINFO:
	case REQUEST_EXECUTABLE:
		return name.len == 0 || err_set(err, ERR_NOT_FOUND, "a path must end after %s",
						request_kind_names[kind]);
	case REQUEST_SECTION:
		return (name.len > 0 && name.len <= SECTION_NAME_MAX && !has_nul) ||
		       err_set(err, ERR_INVALID, "a section name must have 1 to %d characters",
			       SECTION_NAME_MAX);
	case REQUEST_SOURCE:
		return (name.len > 1 && name.len <= SOURCE_PATH_MAX && !has_nul) ||
		       err_set(err, ERR_INVALID,
			       "a source must have an absolute path of at most %d bytes",
			       SOURCE_PATH_MAX);
	case REQUEST_KIND_COUNT: /* GCOVR_EXCL_START: request_path_parse() never sets it */
		break;
	}
	return false;
	/* GCOVR_EXCL_STOP */
}

bool request_path_parse(str below, struct request_path *ret_path, struct err *err)
{
	struct request_path path = { 0 };
	str remainder = below;
	str id = str_cut(&remainder, '/');
	size_t slash = remainder.len ? str_find(remainder, STR("/")) : SIZE_MAX;
	str name = { remainder.ptr, slash == SIZE_MAX ? remainder.len : slash };

	if (!build_id_parse(id, &path.id, err))
		return false;
	if (!kind_parse(name, &path.kind))
		return err_set(err, ERR_NOT_FOUND,
			       "expected debuginfo, executable, section/NAME or source/PATH below "
			       "a build id");
	path.name = str_skip(remainder, name.len);
	if (path.kind == REQUEST_SECTION)
		path.name = str_skip(path.name, 1);
	if (!name_check(path.kind, path.name, err))
		return false;
	*ret_path = path;
	return true;
}
