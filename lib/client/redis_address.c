// SPDX-License-Identifier: Apache-2.0
#include "client/redis_address.h"

#include <curl/curl.h>

enum { DEFAULT_PORT = 6379 };

DEFINE_CLEANUP(CURLU *, curl_url_cleanup)

/* A part of the URL, copied into the arena; empty: the URL does not have it. */
static bool get_part(CURLU *url, CURLUPart part, struct arena *arena, str *ret_part)
{
	unsigned int flags = part == CURLUPART_PATH ? 0 : CURLU_URLDECODE;
	char *text = NULL;
	CURLUcode code = curl_url_get(url, part, &text, flags);

	*ret_part = str_copy(arena, text ? str_from(text) : STR(""));
	curl_free(text);
	return code == CURLUE_OK || code == CURLUE_NO_USER || code == CURLUE_NO_PASSWORD ||
	       code == CURLUE_NO_PORT || code == CURLUE_NO_ZONEID || code == CURLUE_NO_QUERY ||
	       code == CURLUE_NO_FRAGMENT;
}

static const char *host_of(str host, str zone, struct arena *arena)
{
	if (!str_starts_with(host, STR("[")))
		return str_z(arena, host);
	host = (str){ host.ptr + 1, host.len - 2 }; /* the parser has found the "]" */
	return str_z(arena, str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(host),
				       zone.len ? "%" : "", STR_ARG(zone)));
}

static bool read_parts(CURLU *url, struct arena *arena, struct redis_address *address)
{
	str scheme, host, zone, port, path, query, fragment;
	uint64_t number = DEFAULT_PORT;

	if (!get_part(url, CURLUPART_SCHEME, arena, &scheme) ||
	    !get_part(url, CURLUPART_HOST, arena, &host) ||
	    !get_part(url, CURLUPART_ZONEID, arena, &zone) ||
	    !get_part(url, CURLUPART_PORT, arena, &port) ||
	    !get_part(url, CURLUPART_USER, arena, &address->user) ||
	    !get_part(url, CURLUPART_PASSWORD, arena, &address->password) ||
	    !get_part(url, CURLUPART_PATH, arena, &path) ||
	    !get_part(url, CURLUPART_QUERY, arena, &query) ||
	    !get_part(url, CURLUPART_FRAGMENT, arena, &fragment))
		return false;
	if (!str_eq(scheme, STR("redis")) || !host.len || query.len || fragment.len ||
	    (port.len && !str_to_u64(port, &number)) || !number || number > UINT16_MAX)
		return false;
	address->port = (uint16_t)number;
	address->host = host_of(host, zone, arena);
	path = str_skip(path, str_starts_with(path, STR("/")));
	return !path.len || str_to_u64(path, &address->number);
}

bool redis_address_parse(const char *text, struct arena *arena, struct redis_address *ret_address,
			 struct err *err)
{
	CLEANUP(curl_url_cleanupp) CURLU *url = curl_url();
	struct redis_address address = { 0 };
	str given = str_from(text);
	bool has_scheme = str_find(given, STR("://")) < given.len;
	str whole = str_format(arena, "%s" STR_FMT "%c", has_scheme ? "" : "redis://",
			       STR_ARG(given), '\0');

	if (str_starts_with(given, STR("rediss://")))
		return err_set(err, ERR_INVALID, "TLS to Redis (rediss://) is not supported");
	if (!url || curl_url_set(url, CURLUPART_URL, whole.ptr, CURLU_NON_SUPPORT_SCHEME) ||
	    !read_parts(url, arena, &address))
		return err_set(err, ERR_INVALID,
			       "not a Redis address: HOST:PORT, or "
			       "redis://USER:PASSWORD@HOST:PORT/NUMBER with special characters "
			       "percent-encoded");
	if (!address.password.len) {
		address.password = address.user;
		address.user = STR("");
	}
	*ret_address = address;
	return true;
}
