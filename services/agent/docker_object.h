// SPDX-License-Identifier: Apache-2.0
/*
 * docker_object - what Docker's answers say of containers. Pure.
 *
 * A list of containers and a stream of events are both JSON objects one after the other, among
 * brackets and commas. docker_split() cuts them out of bytes as they come, so that no answer is
 * ever held whole; docker_object_read() takes from one what names a container. Names, images and
 * labels are chosen by whoever starts a container.
 */
#pragma once

#include "base/str.h"

struct docker_splitter {
	char *bytes; /* private: the object so far, on the heap */
	size_t len, cap, depth;
	bool in_text, escaped, is_too_long;
};

enum docker_split_result {
	DOCKER_MORE,     /* all bytes were taken, and there is no whole object yet */
	DOCKER_OBJECT,   /* one: valid until the next call */
	DOCKER_TOO_LONG, /* one was passed over */
};

/* Take bytes up to the end of the next object. */
enum docker_split_result docker_split(struct docker_splitter *splitter, str *bytes,
				      str *ret_object);
void docker_splitter_done(struct docker_splitter *splitter);

struct docker_container {
	str id; /* 64 hex digits */
	str name, image, compose_service, compose_project;
	bool is_gone;
};

enum docker_kind {
	DOCKER_CONTAINER,
	DOCKER_OTHER, /* an event of no use, or of something else */
	DOCKER_MALFORMED,
	DOCKER_KIND_COUNT
};

/* Of a list or of an event. Texts are in the arena or borrowed from the object. */
enum docker_kind docker_object_read(str object, struct arena *arena,
				    struct docker_container *ret_container);
