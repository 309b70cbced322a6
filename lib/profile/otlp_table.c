// SPDX-License-Identifier: Apache-2.0
#include "profile/otlp_decoder.h"

#include <inttypes.h>

enum { SMALL_ENTRY_MAX = 512 }; /* bytes; what is known of one takes 50 */

const char *const otlp_table_names[OTLP_TABLE_COUNT] = {
	[OTLP_STRINGS] = "string",   [OTLP_FUNCTIONS] = "function",
	[OTLP_MAPPINGS] = "mapping", [OTLP_LOCATIONS] = "location",
	[OTLP_STACKS] = "stack",     [OTLP_ATTRIBUTES] = "attribute",
	[OTLP_LINKS] = "link",
};

bool otlp_entry(struct otlp_decoder *decoder, enum otlp_table table, uint64_t index, str *ret_entry)
{
	const struct otlp_slices *slices = &decoder->tables[table];

	if (index >= slices->len && index > 0)
		return otlp_reject(decoder, OTLP_INDEX,
				   "%s %" PRId64 " is spoken of, and there are %zu",
				   otlp_table_names[table], (int64_t)index, slices->len);
	*ret_entry = index < slices->len ? slices->items[index] : (str){ 0 };
	return true;
}

/* Entries that are decoded again each time they are spoken of must not be long. */
bool otlp_small_entry(struct otlp_decoder *decoder, enum otlp_table table, uint64_t index,
		      str *ret_entry)
{
	if (!otlp_entry(decoder, table, index, ret_entry))
		return false;
	if (ret_entry->len > SMALL_ENTRY_MAX)
		return otlp_reject(decoder, OTLP_LIMIT, "an entry of %zu bytes in the %s table",
				   ret_entry->len, otlp_table_names[table]);
	return true;
}
