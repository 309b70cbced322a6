#include "share_wish.h"

#include "chassis/json_read.h"

enum { QUERY, START, END, GROUP_BY, EXPIRES, FREEZE, A, B, MEMBERS };

static const struct {
	const char *name, *is;
	unsigned int kinds; /* bits of enum json_member_kind */
} shape[MEMBERS] = {
	[QUERY] = { "query", "a text", 1 << MEMBER_TEXT },
	[START] = { "start", "a time", 1 << MEMBER_TEXT | 1 << MEMBER_NUMBER },
	[END] = { "end", "a time", 1 << MEMBER_TEXT | 1 << MEMBER_NUMBER },
	[GROUP_BY] = { "group_by", "a text, names of labels with commas", 1 << MEMBER_TEXT },
	[EXPIRES] = { "expires", "a number of seconds or a time",
		      1 << MEMBER_TEXT | 1 << MEMBER_NUMBER },
	[FREEZE] = { "freeze", "true or false", 1 << MEMBER_TRUTH },
	[A] = { "a", NULL, 0 },
	[B] = { "b", NULL, 0 },
};

static bool check_kinds(const struct json_member *members, struct err *err)
{
	if (members[A].kind || members[B].kind)
		return err_set(err, ERR_INVALID,
			       "a comparison cannot be shared yet: share each side of it");
	if (!members[QUERY].kind)
		return err_set(err, ERR_INVALID,
			       "member query is missing: a selector like {comm=\"nginx\"}, or {} "
			       "for all CPU samples");
	for (size_t i = 0; i < MEMBERS; i++)
		if (members[i].kind && !(shape[i].kinds & 1U << members[i].kind))
			return err_set(err, ERR_INVALID, "%s must be %s", shape[i].name,
				       shape[i].is);
	return true;
}

/* As parameters say it. */
static bool read_window(const struct json_member *members, uint64_t now_ms,
			struct window *ret_window, struct err *err)
{
	const struct http_param params[] = { { STR("start"), members[START].text },
					     { STR("end"), members[END].text } };
	const struct http_request req = { .params = params, .param_count = ARRAY_LEN(params) };

	return params_window(&req, "", now_ms, ret_window, err);
}

/* A number is seconds from now, a text a time. */
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

bool share_wish_read(str body, uint64_t now_ms, struct arena *arena, struct share_wish *ret_wish,
		     struct err *err)
{
	struct json_member members[MEMBERS];
	struct share_wish wish = { .freeze = true };

	for (size_t i = 0; i < MEMBERS; i++)
		members[i].name = shape[i].name;
	if (!json_read_members(body, members, MEMBERS, arena, err) || !check_kinds(members, err) ||
	    !read_window(members, now_ms, &wish.window, err) ||
	    !read_expiry(&members[EXPIRES], now_ms, &wish.expires_ms, err))
		return false;
	wish.query = members[QUERY].text;
	wish.group_by = members[GROUP_BY].text;
	if (members[FREEZE].kind)
		wish.freeze = members[FREEZE].truth;
	*ret_wish = wish;
	return true;
}
