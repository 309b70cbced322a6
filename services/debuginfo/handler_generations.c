// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/handler_generations.h"

#include "base/map.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/files.h"
#include "server/json/json.h"
#include "server/json/json_error.h"
#include "server/json/json_read.h"
#include "server/metrics/metrics.h"

#include <pthread.h>

#define HANDLER_GENERATIONS_METRICS(ROW)                                     \
	ROW(requested, METRIC_COUNTER, "decima_debuginfo_generations_total", \
	    "Build ids in requests for generations.")

METRICS(handler_generations_metrics, HANDLER_GENERATIONS_METRICS);

static bool read_ids(const struct http_request *req, struct build_id **ret_ids, size_t *ret_count,
		     struct err *err)
{
	/* Parsing needs much memory: one request at a time. */
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	size_t count = 0;
	str *texts = NULL;
	bool is_read;

	pthread_mutex_lock(&one_at_a_time);
	is_read = json_read_texts(req->body, "build_ids", GENERATIONS_MAX, req->arena, &texts,
				  &count, err);
	pthread_mutex_unlock(&one_at_a_time);
	if (!is_read)
		return false;

	struct build_id *ids = arena_array(req->arena, struct build_id, count);

	for (size_t i = 0; i < count; i++)
		if (!build_id_parse(texts[i], &ids[i], err))
			return err_wrap(err, "entry %zu of \"build_ids\"", i);
	*ret_ids = ids;
	*ret_count = count;
	return true;
}

void handler_generations(void *service, const struct http_request *req, struct http_response *res)
{
	struct files *files = service;
	struct map seen = { .arena = req->arena };
	struct buf out = { .arena = req->arena };
	struct json json = { .out = &out };
	struct build_id *ids = NULL;
	size_t count = 0;
	struct err err = { 0 };

	if (!read_ids(req, &ids, &count, &err)) {
		json_error_respond(error_type_of(err.code), err.msg, RETRY_AFTER_SECONDS,
				   req->arena, res);
		return;
	}
	json_object(&json);
	json_key(&json, STR("status"));
	json_str(&json, STR("success"));
	json_key(&json, STR("data"));
	json_object(&json);
	json_key(&json, STR("generations"));
	json_object(&json);
	for (size_t i = 0; i < count; i++) {
		struct file_key key = file_key_debuginfo(&ids[i]);
		void **entry = map_at(&seen, str_from(ids[i].text));

		if (*entry)
			continue; /* a JSON object must not repeat a key */
		*entry = &ids[i];
		json_key(&json, str_from(ids[i].text));
		json_u64(&json, files_generation(files, &key));
	}
	json_end_object(&json);
	json_end_object(&json);
	json_end_object(&json);
	buf_u8(&out, '\n');
	metric_add(&requested, count);
	res->content_type = "application/json";
	res->body = buf_bytes(&out);
}
