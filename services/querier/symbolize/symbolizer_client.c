// SPDX-License-Identifier: Apache-2.0
#include "querier/symbolize/symbolizer_client.h"

#include "base/buf.h"
#include "client/fetch.h"
#include "client/shown_url.h"

#include <inttypes.h>

/* The URL has our timeout, so that the symbolizer responds in time with the symbols it has. */
static const char *request_url(const struct symbolizer_client *client, uint64_t wait_ms,
			       struct arena *arena)
{
	str url = str_from(client->url);

	while (str_ends_with(url, STR("/")))
		url.len--;
	/* An eighth less, for the transfer of the response. */
	url = str_format(arena, STR_FMT "/symbolize?timeout=%" PRIu64 "ms", STR_ARG(url),
			 wait_ms - wait_ms / 8);
	return str_z(arena, url);
}

/* The leading text of an error response. */
static str printable_prefix(str body)
{
	enum { SENTENCE_MAX = 100 };
	size_t len = 0;

	while (len < body.len && len < SENTENCE_MAX && body.ptr[len] >= ' ' && body.ptr[len] <= '~')
		len++;
	return (str){ body.ptr, len };
}

static bool query(void *self, const struct symbolize_request *request,
		  const struct store_bounds *bounds, struct arena *arena,
		  struct symbolize_response *ret_response, struct err *err)
{
	static const char *const headers[] = { "Content-Type: application/x-protobuf" };
	const struct symbolizer_client *client = self;
	uint64_t now_ns = clock_monotonic_ns(), wait_ms;
	struct buf body = { .arena = arena };
	int status = 0;

	if (!store_bounds_check(bounds, err))
		return false;
	wait_ms = 1 + (bounds->deadline_ns > now_ns ? bounds->deadline_ns - now_ns : 0) / NS_PER_MS;

	struct fetch fetch = { .url = request_url(client, wait_ms, arena),
			       .headers = headers,
			       .header_count = ARRAY_LEN(headers),
			       .timeout_ms = wait_ms,
			       .stall_ms = wait_ms,
			       .body_max = SYMBOLIZE_BYTES_MAX,
			       .on_body = fetch_append,
			       .self = &body,
			       .cancel = bounds->cancel };

	str shown = shown_url(str_from(client->url), arena);

	if (!fetch_post(&fetch, symbolize_request_write(request, arena), &status, err))
		return false;
	if (status != 200) {
		str why = printable_prefix(buf_bytes(&body));

		return err_set(err, ERR_IO, STR_FMT " returned status %d: " STR_FMT, STR_ARG(shown),
			       status, STR_ARG(why));
	}
	return symbolize_response_read(buf_bytes(&body), ret_response, arena, err) ||
	       err_wrap(err, "response of " STR_FMT, STR_ARG(shown));
}

struct symbol_source symbolizer_client_source(struct symbolizer_client *client, const char *url)
{
	client->url = url;
	return (struct symbol_source){ .query = *url ? query : NULL, .self = client };
}
