// SPDX-License-Identifier: Apache-2.0
#include "querier/api/share_request_internal.h"
#include "server/json/json_read.h"

/* The members of one side come first: a comparison has them in each of its two objects. */
enum { QUERY, START, END, SIDE_MEMBERS, GROUP_BY = SIDE_MEMBERS, EXPIRES, FREEZE, A, B, MEMBERS };

static const struct {
	const char *name, *is;
	unsigned int kinds; /* bits of enum json_member_kind */
} shape[MEMBERS] = {
	[QUERY] = { "query", "a text", 1 << MEMBER_TEXT },
	[START] = { "start", "a time", 1 << MEMBER_TEXT | 1 << MEMBER_NUMBER },
	[END] = { "end", "a time", 1 << MEMBER_TEXT | 1 << MEMBER_NUMBER },
	[GROUP_BY] = { "group_by", "a text, label names separated by commas", 1 << MEMBER_TEXT },
	[EXPIRES] = { "expires", "a number of seconds or a time",
		      1 << MEMBER_TEXT | 1 << MEMBER_NUMBER },
	[FREEZE] = { "freeze", "true or false", 1 << MEMBER_BOOL },
	[A] = { "a", "an object with a query", 1 << MEMBER_OBJECT },
	[B] = { "b", "an object with a query", 1 << MEMBER_OBJECT },
};

static bool read_members(str text, struct json_member *members, size_t count, struct arena *arena,
			 struct err *err)
{
	for (size_t i = 0; i < count; i++)
		members[i].name = shape[i].name;
	if (!json_read_members(text, members, count, arena, err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (members[i].kind && !(shape[i].kinds & 1U << members[i].kind))
			return err_set(err, ERR_INVALID, "%s must be %s", shape[i].name,
				       shape[i].is);
	return true;
}

/* Times have the format of the parameters start and end. */
static bool read_side(const struct json_member *members, uint64_t now_ms,
		      struct share_request_side *side, struct err *err)
{
	const struct http_param params[] = { { STR("start"), members[START].text },
					     { STR("end"), members[END].text } };
	const struct http_request req = { .params = params, .param_count = ARRAY_LEN(params) };

	if (!members[QUERY].kind)
		return err_set(err, ERR_INVALID,
			       "member query is missing: a selector like {comm=\"nginx\"}, or {} "
			       "for all CPU samples");
	side->query = members[QUERY].text;
	return params_window(&req, "", now_ms, &side->window, err);
}

static bool read_sides(const struct json_member *members, uint64_t now_ms, struct arena *arena,
		       struct share_request *request, struct err *err)
{
	request->side_count = members[A].kind || members[B].kind ? 2 : 1;
	if (request->side_count == 1)
		return read_side(members, now_ms, &request->sides[0], err);
	if (members[QUERY].kind || members[START].kind || members[END].kind)
		return err_set(err, ERR_INVALID,
			       "a comparison has its query, start and end in a and b");
	for (size_t i = 0; i < 2; i++) {
		struct json_member side[SIDE_MEMBERS];

		if (!members[A + i].kind)
			return err_set(err, ERR_INVALID,
				       "a comparison has both a and b: %s is missing",
				       shape[A + i].name);
		if (!read_members(members[A + i].text, side, SIDE_MEMBERS, arena, err) ||
		    !read_side(side, now_ms, &request->sides[i], err))
			return err_wrap(err, "%s", shape[A + i].name);
	}
	return true;
}

/* A number is seconds from now; a text is a time. */
static bool read_expiry(const struct json_member *member, uint64_t now_ms, uint64_t *ret_ms,
			struct err *err)
{
	uint64_t ms = 0;

	if (!member->kind)
		return true;
	if (!params_time(member->text, &ms, err))
		return err_wrap(err, "expires");
	if (member->kind == MEMBER_NUMBER)
		ms = ms ? now_ms + ms : 0;
	if (ms <= now_ms)
		return err_set(err, ERR_INVALID, "expires must be later than now");
	if (ms > TIME_MAX_MS)
		return err_set(err, ERR_INVALID, "expires is after the year 9999");
	*ret_ms = ms;
	return true;
}

bool share_request_read(str body, uint64_t now_ms, struct arena *arena,
			struct share_request *ret_request, struct err *err)
{
	struct json_member members[MEMBERS];
	struct share_request request = { .freeze = true };

	if (!read_members(body, members, MEMBERS, arena, err) ||
	    !read_sides(members, now_ms, arena, &request, err) ||
	    !read_expiry(&members[EXPIRES], now_ms, &request.expires_ms, err))
		return false;
	request.group_by = members[GROUP_BY].text;
	if (members[FREEZE].kind)
		request.freeze = members[FREEZE].is_true;
	*ret_request = request;
	return true;
}
