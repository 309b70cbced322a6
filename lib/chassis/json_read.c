#include "json_read.h"

#include <jansson.h>

bool json_read_texts(str text, const char *member, size_t max, struct arena *arena, str **ret_texts,
		     size_t *ret_count, struct err *err)
{
	json_error_t why;
	json_auto_t *root =
		json_loadb(text.len ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES, &why);

	if (!root)
		return err_set(err, ERR_INVALID, "not JSON: %s at byte %d", why.text, why.position);

	const json_t *list = json_object_get(root, member);
	size_t count = json_array_size(list);

	if (!json_is_array(list))
		return err_set(err, ERR_INVALID, "an object with a list \"%s\" is needed", member);
	if (count > max)
		return err_set(err, ERR_LIMIT, "%zu entries in \"%s\", at most %zu are answered",
			       count, member, max);

	str *texts = arena_array(arena, str, count);

	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_array_get(list, i);

		if (!json_is_string(one))
			return err_set(err, ERR_INVALID, "entry %zu of \"%s\" is no text", i,
				       member);
		texts[i] =
			str_copy(arena, (str){ json_string_value(one), json_string_length(one) });
	}
	*ret_texts = texts;
	*ret_count = count;
	return true;
}
