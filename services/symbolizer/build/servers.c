// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/build/servers.h"

#include "client/shown_url.h"

static bool add(struct servers *servers, str url, struct err *err)
{
	if (!str_starts_with(url, STR("http://")) && !str_starts_with(url, STR("https://")))
		return err_set(err, ERR_INVALID,
			       "debuginfod server \"" STR_FMT
			       "\" is not an http:// or https:// URL",
			       STR_ARG(shown_url(url, &servers->arena)));
	if (servers->count == SERVERS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d debuginfod servers", SERVERS_MAX);
	while (str_ends_with(url, STR("/")))
		url.len--;
	servers->urls[servers->count++] = str_z(&servers->arena, url);
	return true;
}

bool servers_parse(struct servers *servers, const char *text, struct err *err)
{
	str remainder = str_from(text);

	*servers = (struct servers){ 0 };
	while (remainder.len) {
		size_t len = 0;

		while (len < remainder.len && !strchr(" ,\t\n", remainder.ptr[len]))
			len++;
		if (len && !add(servers, (str){ remainder.ptr, len }, err)) {
			servers_done(servers);
			return false;
		}
		remainder = str_skip(remainder, len + 1);
	}
	return true;
}

void servers_done(struct servers *servers)
{
	arena_free(&servers->arena);
	servers->count = 0;
}
