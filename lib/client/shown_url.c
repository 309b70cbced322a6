// SPDX-License-Identifier: Apache-2.0
#include "client/shown_url.h"

str shown_url(str url, struct arena *arena)
{
	static const str separator = { "://", 3 };
	size_t start = str_find(url, separator), at = 0;

	/* Without a scheme the text may still be "USER:PASSWORD@HOST". */
	start = start < url.len ? start + separator.len : 0;
	for (size_t i = start; i < url.len && !strchr("/?#", url.ptr[i]); i++)
		at = url.ptr[i] == '@' ? i : at;
	if (!at)
		return url;
	return str_from(str_z(arena, str_format(arena, STR_FMT "..." STR_FMT, (int)start, url.ptr,
						STR_ARG(str_skip(url, at)))));
}
