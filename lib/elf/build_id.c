// SPDX-License-Identifier: Apache-2.0
#include "elf/build_id.h"

#include "elf/htlhash.h"

static const char digits[] = "0123456789abcdef";

static bool fold_digit(char c, char *ret_digit)
{
	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	*ret_digit = c;
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool build_id_parse(str text, struct build_id *ret_id, struct err *err)
{
	struct build_id id = { .is_hash = str_starts_with(text, STR("htlhash:")) };
	str hex = id.is_hash ? str_skip(text, strlen("htlhash:")) : text;
	size_t least = id.is_hash ? HTLHASH_HEX_LEN : 2 * BUILD_ID_BYTES_MIN;
	size_t most = id.is_hash ? HTLHASH_HEX_LEN : 2 * BUILD_ID_BYTES_MAX;
	size_t prefix = text.len - hex.len;

	if (hex.len < least || hex.len > most || hex.len % 2)
		return err_set(err, ERR_INVALID,
			       "a build id is an even number of %d to %d hexadecimal digits, or "
			       "htlhash: and %d of them",
			       2 * BUILD_ID_BYTES_MIN, 2 * BUILD_ID_BYTES_MAX, HTLHASH_HEX_LEN);
	memcpy(id.text, text.ptr, prefix);
	for (size_t i = 0; i < hex.len; i++)
		if (!fold_digit(hex.ptr[i], &id.text[prefix + i]))
			return err_set(
				err, ERR_INVALID,
				"a build id has hexadecimal digits only: character %zu is another",
				prefix + i + 1);
	*ret_id = id;
	return true;
}

bool build_id_is(const struct build_id *id, const uint8_t *bytes, size_t len)
{
	if (id->is_hash || strlen(id->text) != 2 * len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (id->text[2 * i] != digits[bytes[i] >> 4] ||
		    id->text[2 * i + 1] != digits[bytes[i] & 15])
			return false;
	return true;
}
