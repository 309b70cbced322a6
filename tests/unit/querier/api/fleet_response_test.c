// SPDX-License-Identifier: Apache-2.0
#include "querier/api/fleet_response_internal.h"
#include "querier/querier_limits.h"
#include "support/test.h"

static bool read_page(const char *name, str value, struct fleet_page *ret_page, struct err *err)
{
	const struct http_param param = { .name = str_from(name), .value = value };

	return fleet_page_read(&(struct http_request){ .params = &param, .param_count = 1 },
			       ret_page, err);
}

static void rejects_malformed_pages(void **state)
{
	static const char *const limits[] = { "", "0", "-1", "x", "10001", "99999999999999999999" };
	struct fleet_page page;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		assert_false(read_page("limit", str_from(limits[i]), &page, &err));
	assert_false(read_page("after", STR("a\xff"), &page, &err));
	assert_false(read_page("after", STR("a\0b"), &page, &err));
	assert_int_equal(err.code, ERR_INVALID);
}

static void reads_a_page(void **state)
{
	struct fleet_page page;
	struct err err;

	(void)state;
	assert_true(read_page("limit", STR("10000"), &page, &err));
	assert_int_equal(page.limit, FLEET_HOSTS_MAX);
	assert_true(page.has_limit);
	assert_true(read_page("after", STR("n1/x"), &page, &err));
	assert_true(str_eq(page.after, STR("n1/x")));
	assert_false(page.has_limit);
	assert_int_equal(page.limit, FLEET_HOSTS_MAX);
}

static struct fleet_host host_of(void)
{
	return (struct fleet_host){
		.host = STR("n1/x"),
		.node = STR("n1"),
		.version = STR("1.0"),
		.last_seen_ms = 1787479200250,
		.balance = { .sampled = 10,
			     .spooled = 9,
			     .sent = 7,
			     .stored = 8,
			     .in_flight = 1,
			     .duplicate = 2,
			     .conflict = 4,
			     .missing = 3,
			     .lost = { .items = { { STR("ring\"full"), 1 } }, .len = 1 } },
	};
}

static void writes_hosts_one_after_the_other(void **state)
{
	AUTO_ARENA arena = { 0 };
	const struct fleet_page page = { .limit = 2, .has_limit = true };
	struct fleet_host host = host_of();
	struct http_response res = { 0 };
	struct fleet_response response;
	struct err err;
	bool more;

	(void)state;
	fleet_response_begin(&response, &page, 1 << 20, &arena);
	assert_true(fleet_response_add_host(&response, &host, &more, &err));
	host = (struct fleet_host){ .host = STR("n2"),
				    .balance = { .unaccounted = -1, .why = "so" } };
	assert_true(fleet_response_add_host(&response, &host, &more, &err));
	assert_true(more);
	fleet_response_end(&response, &(struct query_stats){ 0 }, &res);

	assert_true(str_starts_with(
		res.body,
		STR("{\"status\":\"success\",\"data\":["
		    "{\"node\":\"n1\",\"host\":\"n1/x\",\"version\":\"1.0\","
		    "\"last_seen\":1787479200.25,\"sampled\":10,\"spooled\":9,\"sent\":7,"
		    "\"stored\":8,\"in_flight\":1,\"unaccounted\":0,"
		    "\"duplicate\":2,\"conflict\":4,\"missing\":3,\"lost\":{\"ring\\\"full\":1},"
		    "\"truncated\":{}},"
		    "{\"node\":\"\",\"host\":\"n2\",\"version\":\"\",\"last_seen\":0,\"sampled\":0,"
		    "\"spooled\":0,\"sent\":0,\"stored\":0,\"in_flight\":0,\"unaccounted\":-1,"
		    "\"duplicate\":0,\"conflict\":0,\"missing\":0,"
		    "\"lost\":{},"
		    "\"truncated\":{},\"why\":\"so\"}],\"stats\":{")));
}

static void a_page_with_a_limit_ends_and_one_without_fails(void **state)
{
	const struct fleet_host host = host_of();

	(void)state;
	for (int has_limit = 0; has_limit < 2; has_limit++) {
		AUTO_ARENA arena = { 0 };
		const struct fleet_page page = { .limit = 1, .has_limit = has_limit };
		struct fleet_response response;
		struct err err = { 0 };
		bool more;

		fleet_response_begin(&response, &page, 1 << 20, &arena);
		assert_true(fleet_response_add_host(&response, &host, &more, &err));
		assert_int_equal(fleet_response_add_host(&response, &host, &more, &err), has_limit);
		assert_int_equal(err.code, has_limit ? ERR_NONE : ERR_LIMIT);
		if (has_limit)
			assert_false(more);
	}
}

static void ends_at_its_memory_limit(void **state)
{
	AUTO_ARENA arena = { 0 };
	const struct fleet_page page = { .limit = FLEET_HOSTS_MAX };
	const struct fleet_host host = host_of();
	struct fleet_response response;
	struct err err = { 0 };
	size_t hosts = 0;
	bool more;

	(void)state;
	fleet_response_begin(&response, &page, 1 << 20, &arena);
	while (fleet_response_add_host(&response, &host, &more, &err))
		hosts++;

	assert_int_equal(err.code, ERR_LIMIT);
	assert_in_range(hosts, 1000, FLEET_HOSTS_MAX - 1);
}

RUN_TESTS(TEST(rejects_malformed_pages), TEST(reads_a_page), TEST(writes_hosts_one_after_the_other),
	  TEST(a_page_with_a_limit_ends_and_one_without_fails), TEST(ends_at_its_memory_limit))
