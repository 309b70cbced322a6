// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/labels/docker_object_internal.h"
#include "support/test.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Responses of engine 26 to /containers/json and /events, shortened. */
static const char list[] =
	"[{\"Id\":\"" ID "\",\"Names\":[\"/db/link\",\"/shop-web-1\"],\"Image\":\"shop/web:7\","
	"\"ImageID\":\"sha256:77\",\"Command\":\"sh -c \\\"exec }{ x\\\"\",\"Created\":1795316,"
	"\"Ports\":[{\"IP\":\"127.0.0.1\",\"PrivatePort\":80}],\"Labels\":{\"a\":\"b\","
	"\"com.docker.compose.project\":\"shop\",\"com.docker.compose.service\":\"web\"},"
	"\"HostConfig\":{\"NetworkMode\":\"x\"},\"Mounts\":[]},\n"
	"{\"Id\":\"" ID "\",\"Names\":[\"/bare\"],\"Image\":\"bare\",\"Labels\":null}]";
static const char renamed[] =
	"{\"Type\":\"container\",\"Action\":\"rename\",\"Actor\":{\"ID\":\"" ID
	"\",\"Attributes\":{\"com.docker.compose.service\":\"web\",\"image\":\"shop/web:7\","
	"\"name\":\"n\\u00fc\\/\\ud83d\\ude00\\n\",\"oldName\":\"/"
	"x\"}},\"scope\":\"local\",\"time\":1}";

static void check(const struct docker_container *container, const char *name, const char *image,
		  const char *service, const char *project)
{
	assert_true(str_eq(container->id, STR(ID)));
	assert_true(str_eq(container->name, str_from(name)));
	assert_true(str_eq(container->image, str_from(image)));
	assert_true(str_eq(container->compose_service, str_from(service)));
	assert_true(str_eq(container->compose_project, str_from(project)));
}

static void splits_a_list_received_in_pieces_of_any_size(void **state)
{
	(void)state;
	for (size_t size = 1; size < sizeof(list); size++) {
		AUTO_ARENA arena = { 0 };
		struct docker_splitter splitter = { 0 };
		struct docker_container found[2];
		size_t count = 0;

		for (size_t at = 0; at < sizeof(list) - 1; at += size) {
			size_t left = sizeof(list) - 1 - at;
			str bytes = { list + at, left < size ? left : size }, object;

			while (docker_split(&splitter, &bytes, &object) == DOCKER_OBJECT) {
				assert_true(count < ARRAY_LEN(found));
				assert_int_equal(docker_object_read(str_copy(&arena, object),
								    &arena, &found[count++]),
						 DOCKER_CONTAINER);
			}
		}
		assert_int_equal(count, 2);
		check(&found[0], "shop-web-1", "shop/web:7", "web", "shop");
		check(&found[1], "bare", "bare", "", "");
		docker_splitter_done(&splitter);
	}
}

static void an_event_has_the_name_and_texts_are_unescaped(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct docker_container container;

	(void)state;
	assert_int_equal(docker_object_read(str_from(renamed), &arena, &container),
			 DOCKER_CONTAINER);
	check(&container, "n\xc3\xbc/\xf0\x9f\x98\x80\n", "shop/web:7", "web", "");
	assert_false(container.is_gone);
}

static void kinds_are_distinguished(void **state)
{
	static const struct {
		const char *text;
		enum docker_kind kind;
	} rows[] = {
		{ "{\"Id\":\"" ID "\"}", DOCKER_CONTAINER },
		{ "{\"Action\":\"destroy\",\"Actor\":{\"ID\":\"" ID "\"}}", DOCKER_CONTAINER },
		{ "{\"Action\":\"exec_start: sh\",\"Actor\":{\"ID\":\"" ID "\"}}", DOCKER_OTHER },
		{ "{\"Action\":\"create\",\"Actor\":{\"ID\":\"short\"}}", DOCKER_MALFORMED },
		{ "{\"Action\":\"create\",\"Actor\":[]}", DOCKER_MALFORMED },
		{ "{\"Id\":7,\"Labels\":[1,{\"a\":\"}\"}],\"Names\":{}}", DOCKER_MALFORMED },
		{ "{\"Id\":\"" ID "\",}", DOCKER_MALFORMED },
		{ "{\"Id\":\"" ID "\" \"Image\":\"x\"}", DOCKER_MALFORMED },
		{ "{\"Id\":\"" ID "\",\"x\":\"\\u12\"}", DOCKER_MALFORMED },
		{ "{\"Id\":\"" ID "\",\"x\":\"\\ud83d\"}", DOCKER_MALFORMED },
		{ "{\"Id\":\"" ID "\",\"x\":\"\xff\"}", DOCKER_MALFORMED },
		{ "{\"Id\":\"" ID "\",\"Id\":\"x\"}", DOCKER_MALFORMED },
		{ "{\"Id\":\"" ID "\",\"Names\":[\"/a\" \"/b\"]}", DOCKER_MALFORMED },
		{ "{\"Id\":\"" ID "\",\"x\":}", DOCKER_MALFORMED },
		{ "{\"Id\":\"" ID "\",\"x\":[", DOCKER_MALFORMED },
		{ "[]", DOCKER_MALFORMED },
		{ "{}", DOCKER_MALFORMED },
		{ "", DOCKER_MALFORMED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct docker_container container = { .name = STR("before") };
		enum docker_kind kind =
			docker_object_read(str_from(rows[i].text), &arena, &container);

		if (kind != rows[i].kind)
			fail_msg("%s is of kind %d", rows[i].text, kind);
		if (str_eq(container.name, STR("before")) != (kind != DOCKER_CONTAINER))
			fail_msg("%s: *ret_container", rows[i].text);
	}
}

static void an_object_that_is_too_long_is_skipped_and_the_next_is_read(void **state)
{
	struct docker_splitter splitter = { 0 };
	str open = STR("{\"x\":\""), close = STR("\"}"), next = STR("{}"), object;

	(void)state;
	assert_int_equal(docker_split(&splitter, &open, &object), DOCKER_MORE);
	for (size_t i = 0; i < DOCKER_OBJECT_MAX / 8 + 1; i++) {
		str more = STR("12345678");

		assert_int_equal(docker_split(&splitter, &more, &object), DOCKER_MORE);
	}
	assert_true(splitter.cap <= DOCKER_OBJECT_MAX);
	assert_int_equal(docker_split(&splitter, &close, &object), DOCKER_TOO_LONG);
	assert_int_equal(docker_split(&splitter, &next, &object), DOCKER_OBJECT);
	assert_true(str_eq(object, STR("{}")));
	docker_splitter_done(&splitter);
}

RUN_TESTS(TEST(splits_a_list_received_in_pieces_of_any_size),
	  TEST(an_event_has_the_name_and_texts_are_unescaped), TEST(kinds_are_distinguished),
	  TEST(an_object_that_is_too_long_is_skipped_and_the_next_is_read))
