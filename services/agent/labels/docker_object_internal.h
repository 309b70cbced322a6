// SPDX-License-Identifier: Apache-2.0
/*
 * docker_object - parses the Docker engine's responses about containers. The input is untrusted.
 *
 * A list of containers and a stream of events are both sequences of JSON objects; bytes between the
 * objects (brackets, commas, newlines) are skipped. docker_split() splits a byte stream into
 * objects, so that no response is held in memory as a whole; docker_object_read() reads the id, the
 * names and the image of a container from one object, with jansson, whose tree takes up to 100
 * times the length of the object until the function returns. The user who starts a container
 * chooses these texts. No I/O. One thread at a time.
 */
#pragma once

#include "base/str.h"

/* All members are private. A zeroed struct is valid; docker_splitter_done() frees it. */
struct docker_splitter {
	char *bytes; /* the incomplete object, on the heap */
	size_t len, cap, depth;
	bool in_text, escaped, is_too_long;
};

enum docker_split_result {
	DOCKER_MORE,     /* all bytes are consumed: call again with the next bytes */
	DOCKER_OBJECT,   /* *ret_object is a complete object */
	DOCKER_TOO_LONG, /* an object larger than DOCKER_OBJECT_MAX has been skipped completely */
};

/*
 * Advances *bytes past the end of the next object. The caller repeats the call until DOCKER_MORE.
 * *ret_object borrows from the splitter until the next call of docker_split() or
 * docker_splitter_done(); it is unchanged unless DOCKER_OBJECT. Braces are counted outside of JSON
 * texts; otherwise the syntax is not checked.
 */
enum docker_split_result docker_split(struct docker_splitter *splitter, str *bytes,
				      str *ret_object);

/* Frees the memory. An incomplete object is dropped. */
void docker_splitter_done(struct docker_splitter *splitter);

struct docker_container {
	str id; /* exactly 64 hex digits; verified */
	/* compose_*: the service and the project of Docker Compose. Each text may be empty. */
	str name, image, compose_service, compose_project;
	bool is_gone; /* the container was removed; only `id` is relevant then */
};

enum docker_kind {
	DOCKER_CONTAINER,
	DOCKER_OTHER, /* not about a container, or an event without a change that matters here */
	DOCKER_MALFORMED, /* no valid JSON (also duplicate members, not UTF-8), or the id is not 64
			     hex digits */
	DOCKER_KIND_COUNT
};

/* Parses one object: an element of a list of containers, or an event. The texts are in the arena.
 * *ret_container is unchanged unless DOCKER_CONTAINER. */
enum docker_kind docker_object_read(str object, struct arena *arena,
				    struct docker_container *ret_container);
