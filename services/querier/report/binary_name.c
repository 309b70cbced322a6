// SPDX-License-Identifier: Apache-2.0
#include "querier/report/binary_name.h"

static const str deleted = { " (deleted)", 10 };
static const str shared = { ".so", 3 };

str binary_base_name(str path)
{
	if (path.len > deleted.len && str_ends_with(path, deleted))
		path.len -= deleted.len;

	const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;

	return slash ? str_skip(path, (size_t)(slash - path.ptr) + 1) : path;
}

/* The length of the text without the digits and dots at its end. */
static size_t len_without_version(str text)
{
	while (text.len && (text.ptr[text.len - 1] == '.' ||
			    (text.ptr[text.len - 1] >= '0' && text.ptr[text.len - 1] <= '9')))
		text.len--;
	return text.len;
}

static bool is_soname_version(str text)
{
	return text.len == 0 || (text.ptr[0] == '.' && len_without_version(text) == 0);
}

struct unversioned_name binary_unversioned(str base_name)
{
	str stem = base_name;

	/* The last ".so", because a name may have it twice: "libxyz.so.so.1". */
	while (stem.len && !str_ends_with(stem, shared))
		stem.len--;
	if (stem.len <= shared.len || !is_soname_version(str_skip(base_name, stem.len)))
		return (struct unversioned_name){ .stem = base_name };
	stem.len -= shared.len;

	size_t len = len_without_version(stem);

	/* "-2.31" is a version, "-64" is not. */
	if (len > 1 && stem.ptr[len - 1] == '-' &&
	    str_find(str_skip(stem, len), STR(".")) != SIZE_MAX)
		stem.len = len - 1;
	return (struct unversioned_name){ stem, shared };
}

int binary_name_compare(str base_name_a, str base_name_b)
{
	struct unversioned_name a = binary_unversioned(base_name_a);
	struct unversioned_name b = binary_unversioned(base_name_b);
	int order = str_compare(a.stem, b.stem);

	return order ? order : str_compare(a.suffix, b.suffix);
}
