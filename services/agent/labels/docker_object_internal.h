// SPDX-License-Identifier: Apache-2.0
/*
 * docker_object - parses the Docker engine's responses about containers. Pure; untrusted input.
 *
 * A list of containers and a stream of events are both JSON objects in sequence, between brackets
 * and commas. docker_split() splits a byte stream into objects, so that no response is held in
 * memory as a whole; docker_object_read() extracts the container's id and names from one object.
 * Names, images and labels are chosen by the user who starts the container.
 */
#pragma once

#include "base/str.h"

struct docker_splitter {
	char *bytes; /* private: the incomplete object, on the heap */
	size_t len, cap, depth;
	bool in_text, escaped, is_too_long;
};

enum docker_split_result {
	DOCKER_MORE,     /* all bytes are consumed; the object is incomplete */
	DOCKER_OBJECT,   /* a complete object, valid until the next call */
	DOCKER_TOO_LONG, /* an object larger than DOCKER_OBJECT_MAX was skipped */
};

/* Consume *bytes up to the end of the next object. docker_splitter_done() frees the memory. */
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
	DOCKER_OTHER, /* an event that changes no name, or is not about a container */
	DOCKER_MALFORMED,
	DOCKER_KIND_COUNT
};

/* Parse an object of a list or an event. Texts are in the arena or borrowed from `object`. */
enum docker_kind docker_object_read(str object, struct arena *arena,
				    struct docker_container *ret_container);
