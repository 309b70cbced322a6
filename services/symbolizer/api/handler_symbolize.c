// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/api/handler_symbolize.h"

#include "server/config/conf.h"
#include "server/json/json.h"
#include "server/json/json_error.h"
#include "server/json/json_read.h"
#include "symbolizer/symbolizer_limits.h"

enum { RETRY_SECONDS = 1 };

static void reject(const struct http_request *req, struct http_response *res, const struct err *err)
{
	json_error_respond(error_type_of(err->code), err->msg, RETRY_SECONDS, req->arena, res);
}

/* Ignore parameters: "application/json; charset=utf-8" is application/json. */
static bool is_type(const struct http_request *req, str type)
{
	str header = http_header(req, "Content-Type");

	header = str_trim(str_cut(&header, ';'));
	if (header.len != type.len)
		return false;
	for (size_t i = 0; i < type.len; i++)
		if ((header.ptr[i] | 0x20) != (type.ptr[i] | 0x20))
			return false;
	return true;
}

static bool read_json(const struct http_request *req, struct symbolize_request *ret_request,
		      struct err *err)
{
	static const struct json_numbers_shape shape = { .list = "requests",
							 .text = "build_id",
							 .numbers = "addresses",
							 .list_max = SYMBOLIZE_BINARIES_MAX,
							 .numbers_max = SYMBOLIZE_ADDRESSES_MAX };
	/* Parsing needs much memory: one request at a time. */
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	struct json_numbers *lists;
	size_t count;
	bool is_read;

	if (req->body.len > JSON_BODY_MAX)
		return err_set(err, ERR_LIMIT,
			       "a JSON request of %zu bytes, limit %d; in protobuf "
			       "there may be %d addresses",
			       req->body.len, JSON_BODY_MAX, SYMBOLIZE_ADDRESSES_MAX);
	pthread_mutex_lock(&one_at_a_time);
	is_read = json_read_numbers(req->body, &shape, req->arena, &lists, &count, err);
	pthread_mutex_unlock(&one_at_a_time);
	if (!is_read)
		return false;

	struct symbolize_binary *binaries = arena_array(req->arena, struct symbolize_binary, count);

	for (size_t i = 0; i < count; i++)
		binaries[i] = (struct symbolize_binary){ lists[i].text, lists[i].numbers,
							 lists[i].count };
	*ret_request = (struct symbolize_request){ binaries, count };
	return true;
}

static void write_line(struct json *json, const struct symbolized_line *line)
{
	json_object(json);
	json_key(json, STR("function"));
	json_str(json, line->function);
	json_key(json, STR("system_name"));
	json_str(json, line->system_name);
	json_key(json, STR("file"));
	json_str(json, line->file);
	json_key(json, STR("line"));
	json_u64(json, line->line);
	json_key(json, STR("start_line"));
	json_u64(json, line->start_line);
	json_end_object(json);
}

static void write_location(struct json *json, const struct symbolized_location *location)
{
	json_object(json);
	json_key(json, STR("lines"));
	json_array(json);
	for (size_t i = 0; i < location->line_count; i++)
		write_line(json, &location->lines[i]);
	json_end_array(json);
	if (location->reason != NAME_KNOWN) {
		json_key(json, STR("reason"));
		json_str(json, str_from(name_reason_text[location->reason]));
	}
	json_end_object(json);
}

/* JSON repeats each name at each use, so a short request can make a long response. */
static bool write_json(const struct symbolize_response *response, struct buf *out, struct err *err)
{
	struct json json = { .out = out };

	json_object(&json);
	json_key(&json, STR("responses"));
	json_array(&json);
	for (size_t i = 0; i < response->binary_count; i++) {
		const struct symbolized_binary *binary = &response->binaries[i];

		json_object(&json);
		json_key(&json, STR("generation"));
		json_u64(&json, binary->generation);
		if (binary->reason != NAME_KNOWN) {
			json_key(&json, STR("reason"));
			json_str(&json, str_from(name_reason_text[binary->reason]));
		}
		json_key(&json, STR("locations"));
		json_array(&json);
		for (size_t j = 0; j < binary->location_count; j++) {
			write_location(&json, &binary->locations[j]);
			if (out->len > SYMBOLIZE_BYTES_MAX)
				return err_set(err, ERR_LIMIT,
					       "the JSON response is longer than %d bytes: request "
					       "fewer addresses, or use protobuf",
					       SYMBOLIZE_BYTES_MAX);
		}
		json_end_array(&json);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	buf_u8(out, '\n');
	return true;
}

/* Apply the client's timeout if it is shorter: the client has gone after it. */
static bool read_timeout(struct resolver *resolver, const struct http_request *req, struct err *err)
{
	str text = http_query(req, "timeout");
	uint64_t timeout_ns = 0;

	if (!text.ptr)
		return true;
	if (!conf_duration(text, &timeout_ns, err))
		return err_wrap(err, "timeout");
	if (timeout_ns < resolver->options.timeout_ns)
		resolver->options.timeout_ns = timeout_ns;
	return true;
}

void handler_symbolize(void *service, const struct http_request *req, struct http_response *res)
{
	bool is_protobuf = is_type(req, STR("application/x-protobuf"));
	struct resolver resolver = *(const struct resolver *)service;
	struct symbolize_request request;
	struct err err = { 0 };

	if (!is_protobuf && !is_type(req, STR("application/json"))) {
		res->status = 415;
		json_error(req->arena, "bad_data",
			   "Content-Type is application/x-protobuf or application/json", res);
		return;
	}
	if (!read_timeout(&resolver, req, &err)) {
		reject(req, res, &err);
		return;
	}
	if (is_protobuf ? !symbolize_request_read(req->body, &request, req->arena, &err)
			: !read_json(req, &request, &err)) {
		reject(req, res, &err);
		return;
	}

	struct symbolize_response response =
		resolver_resolve(&resolver, &request, req->gone, req->arena);
	struct buf out = { .arena = req->arena };

	if (is_protobuf) {
		res->content_type = "application/x-protobuf";
		res->body = symbolize_response_write(&response, req->arena);
	} else if (write_json(&response, &out, &err)) {
		res->content_type = "application/json";
		res->body = buf_bytes(&out);
	} else {
		reject(req, res, &err);
	}
}
