// SPDX-License-Identifier: Apache-2.0
/*
 * external_labels - any text is either parsed as a set of labels, which is valid as labels.h
 * defines it, or rejected with an error message.
 */
#include "agent/agent_limits.h"
#include "agent/labels/external_labels.h"
#include "profile/limits.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	struct labels labels;
	struct err err = { 0 };

	if (!external_labels_parse((str){ (const char *)data, size }, &arena, &labels, &err)) {
		assert((err.code == ERR_INVALID || err.code == ERR_LIMIT) && err.msg[0]);
		return 0;
	}
	assert(labels.len <= EXTERNAL_LABELS_MAX);
	for (size_t i = 0; i < labels.len; i++) {
		str name = labels.items[i].name, value = labels.items[i].value;

		assert(name.len && name.len <= LABEL_NAME_MAX && str_is_utf8(name));
		assert(value.len && value.len <= LABEL_VALUE_MAX && str_is_utf8(value));
		assert(i == 0 || str_compare(labels.items[i - 1].name, name) < 0);
		assert(!str_eq(name, STR("node")) && !str_eq(name, STR("pid")));
		assert(!str_starts_with(name, STR("__")));
	}
	return 0;
}
