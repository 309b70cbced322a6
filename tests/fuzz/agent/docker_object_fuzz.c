// SPDX-License-Identifier: Apache-2.0
/* Docker's responses, in which users choose names and labels: no text is longer than the input.
 */
#include "agent/labels/docker_object_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(str object)
{
	AUTO_ARENA arena = { 0 };
	struct docker_container container = { 0 };

	if (docker_object_read(object, &arena, &container) != DOCKER_CONTAINER)
		return;
	if (container.id.len != 64 || container.name.len > object.len ||
	    container.image.len > object.len || container.compose_service.len > object.len ||
	    container.compose_project.len > object.len)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	str bytes = { (const char *)data, size }, object;
	struct docker_splitter splitter = { 0 };
	enum docker_split_result piece;

	check(bytes);
	while ((piece = docker_split(&splitter, &bytes, &object)) != DOCKER_MORE) {
		if (piece == DOCKER_OBJECT) {
			if (object.ptr[0] != '{' || object.ptr[object.len - 1] != '}')
				__builtin_trap();
			check(object);
		}
	}
	docker_splitter_done(&splitter);
	return 0;
}
