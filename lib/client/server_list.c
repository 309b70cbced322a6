// SPDX-License-Identifier: Apache-2.0
#include "client/server_list.h"

#include "client/shown_url.h"

static bool add(struct server_list *list, str url, struct err *err)
{
	if (!str_starts_with(url, STR("http://")) && !str_starts_with(url, STR("https://")))
		return err_set(err, ERR_INVALID,
			       "debuginfod server \"" STR_FMT
			       "\" is not an http:// or https:// URL",
			       STR_ARG(shown_url(url, &list->arena)));
	if (list->count == SERVERS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d debuginfod servers", SERVERS_MAX);
	while (str_ends_with(url, STR("/")))
		url.len--;
	list->urls[list->count] = str_z(&list->arena, url);
	list->shown[list->count] = shown_url(str_from(list->urls[list->count]), &list->arena);
	list->count++;
	return true;
}

bool server_list_parse(struct server_list *list, const char *text, struct err *err)
{
	str remainder = str_from(text);

	*list = (struct server_list){ 0 };
	while (remainder.len) {
		size_t len = 0;

		while (len < remainder.len && !strchr(" ,\t\n", remainder.ptr[len]))
			len++;
		if (len && !add(list, (str){ remainder.ptr, len }, err)) {
			server_list_done(list);
			return false;
		}
		remainder = str_skip(remainder, len + 1);
	}
	return true;
}

void server_list_done(struct server_list *list)
{
	arena_free(&list->arena);
	list->count = 0;
}
