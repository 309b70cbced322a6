// SPDX-License-Identifier: Apache-2.0
#include "querier/api/fleet_response_internal.h"
#include "querier/querier_limits.h"

bool fleet_page_read(const struct http_request *req, struct fleet_page *ret_page, struct err *err)
{
	str limit = http_query(req, "limit");
	struct fleet_page page = { .after = http_query(req, "after"), .limit = FLEET_HOSTS_MAX };
	uint64_t count = FLEET_HOSTS_MAX;

	page.has_limit = limit.ptr;
	if (page.has_limit && (!str_to_u64(limit, &count) || count == 0 || count > FLEET_HOSTS_MAX))
		return err_set(err, ERR_INVALID, "limit: must be a number of hosts from 1 to %d",
			       FLEET_HOSTS_MAX);
	if (!str_is_utf8(page.after) ||
	    (page.after.len && memchr(page.after.ptr, 0, page.after.len)))
		return err_set(err, ERR_INVALID, "after: must be a host id of an earlier response");
	page.limit = (size_t)count;
	*ret_page = page;
	return true;
}

void fleet_response_begin(struct fleet_response *response, const struct fleet_page *page,
			  uint64_t memory_max, struct arena *arena)
{
	*response = (struct fleet_response){ .page = *page, .memory_max = memory_max };
	json_response_begin(&response->body, arena);
	json_array(&response->body.json);
}

static void put_u64(struct json *json, str key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

static void put_str(struct json *json, str key, str value)
{
	json_key(json, key);
	json_str(json, value);
}

static void put_reasons(struct json *json, str key, const struct balance_reasons *reasons)
{
	json_key(json, key);
	json_object(json);
	for (size_t i = 0; i < reasons->len; i++)
		put_u64(json, reasons->items[i].reason, reasons->items[i].samples);
	json_end_object(json);
}

static void put_host(struct json *json, const struct fleet_host *host)
{
	const struct balance *sum = &host->balance;

	json_object(json);
	put_str(json, STR("node"), host->node);
	put_str(json, STR("host"), host->host);
	put_str(json, STR("version"), host->version);
	json_key(json, STR("last_seen"));
	json_double(json, (double)host->last_seen_ms / 1000);
	if (host->agents > 1)
		put_u64(json, STR("agents"), host->agents);
	put_u64(json, STR("sampled"), sum->sampled);
	put_u64(json, STR("spooled"), sum->spooled);
	put_u64(json, STR("sent"), sum->sent);
	put_u64(json, STR("stored"), sum->stored);
	put_u64(json, STR("in_flight"), sum->in_flight);
	json_key(json, STR("unaccounted"));
	json_i64(json, sum->unaccounted);
	put_u64(json, STR("duplicate"), sum->duplicate);
	put_u64(json, STR("conflict"), sum->conflict);
	put_u64(json, STR("missing"), sum->missing);
	put_reasons(json, STR("lost"), &sum->lost);
	put_reasons(json, STR("truncated"), &sum->truncated);
	if (sum->why)
		put_str(json, STR("why"), str_from(sum->why));
	json_end_object(json);
}

bool fleet_response_add_host(void *self, const struct fleet_host *host, bool *ret_more,
			     struct err *err)
{
	struct fleet_response *response = self;

	if (response->hosts == response->page.limit) {
		*ret_more = false;
		return response->page.has_limit ||
		       err_set(err, ERR_LIMIT,
			       "the fleet has more than %d hosts: request pages, with limit=%d and "
			       "then after=HOST with the last host of each page",
			       FLEET_HOSTS_MAX, FLEET_HOSTS_MAX);
	}
	put_host(&response->body.json, host);
	response->hosts++;
	*ret_more = true;
	return response->body.out.arena->size <= response->memory_max ||
	       err_set(err, ERR_LIMIT,
		       "the response exceeds the memory limit of a query (%zu hosts so far): "
		       "request fewer hosts at a time with limit",
		       response->hosts);
}

void fleet_response_end(struct fleet_response *response, const struct query_stats *stats,
			struct http_response *res)
{
	json_end_array(&response->body.json);
	res->content_type = "application/json";
	res->body = json_response_end(&response->body, stats);
}
