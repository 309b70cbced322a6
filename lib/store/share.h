// SPDX-License-Identifier: Apache-2.0
/*
 * share - links to profiles, as rows: a question, and its answer where that was frozen.
 *
 * Who has the id may look until it expires. Rows are no samples: retention leaves them alone, but
 * for those that expired a day ago.
 */
#pragma once

#include "store/reader.h"

enum { SHARE_ID_BYTES = 16, SHARE_ID_LEN = 2 * SHARE_ID_BYTES };

/* One profile. */
struct share_side {
	str query; /* as it was asked */
	uint64_t start_ms, end_ms;
	str payload, reasons; /* of a frozen one, where they were wanted */
};

enum { SHARE_SIDES_MAX = 2 };

struct share {
	str id;       /* SHARE_ID_LEN hexadecimal digits */
	str group_by; /* as it was asked */
	struct share_side sides[SHARE_SIDES_MAX];
	size_t side_count; /* 2: a comparison, of what was before and after */
	uint64_t created_ms;
	uint64_t expires_ms; /* 0: never */
	str warnings;        /* a line each */
	bool is_frozen;
};

/* A new id, and whether a text is one. */
bool share_id_make(struct arena *arena, str *ret_id, struct err *err) MUST_CHECK;
bool share_id_is_one(str text);

/*
 * Store it, by a connection of its own. ERR_LIMIT: there are SHARES_MAX, or their bytes would be
 * more than total_max. ERR_IO: also where the database can only be read, which is said.
 */
bool share_store(const char *postgres, const struct share *share, uint64_t total_max,
		 const struct store_bounds *bounds, struct err *err) MUST_CHECK;

enum share_state { SHARE_UNKNOWN, SHARE_EXPIRED, SHARE_FOUND };

/* Within the reader's snapshot. ret_share is written where it is found; texts are the arena's. */
bool store_reader_share(struct store_reader *reader, str id, bool with_payload, struct arena *arena,
			struct share *ret_share, enum share_state *ret_state,
			struct err *err) MUST_CHECK;
