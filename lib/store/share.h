// SPDX-License-Identifier: Apache-2.0
/*
 * share - stored links to profiles: a query, with its result if the link is frozen.
 *
 * A frozen share contains the result itself, and one that is not frozen is queried again by each
 * reader. Any client that has the id may read the profile until the link expires. Retention does
 * not apply to shares; a share is deleted one day after it expired. One thread per reader; the
 * other functions: any thread.
 */
#pragma once

#include "store/scan/reader.h"

enum { SHARE_ID_BYTES = 16, SHARE_ID_LEN = 2 * SHARE_ID_BYTES };

/* One profile. */
struct share_side {
	str query; /* as requested */
	uint64_t start_ms, end_ms;
	/* The stored result and its reasons, in the encoding of the querier; opaque bytes here.
	 * Only of a frozen share; empty if read without payload. */
	str payload, reasons;
};

enum { SHARE_SIDES_MAX = 2 };

struct share {
	str id;       /* SHARE_ID_LEN hexadecimal digits */
	str group_by; /* as requested */
	struct share_side sides[SHARE_SIDES_MAX];
	size_t side_count; /* 2: a comparison, before and after */
	uint64_t created_ms;
	uint64_t expires_ms; /* 0: never */
	str warnings;        /* one per line */
	bool is_frozen;
};

/* Generates a random id in the arena. ERR_IO: the kernel returned no random bytes. */
bool share_id_make(struct arena *arena, str *ret_id, struct err *err) MUST_CHECK;

/* True if the text has the form of an id: SHARE_ID_LEN lower-case hexadecimal digits. */
bool share_id_is_valid(str text);

/*
 * Stores a share over a connection of its own. The caller has set all members, with an id of
 * share_id_make(); nothing is kept after the call. ERR_LIMIT: SHARES_MAX is reached, or all shares
 * would exceed total_max bytes. ERR_IO: the database is unreachable, does not respond within
 * SHARE_STORE_MS, or is read-only. ERR_CANCELLED, ERR_TIMEOUT: the bounds ended.
 */
bool share_store(const char *postgres, const struct share *share, uint64_t total_max,
		 const struct store_bounds *bounds, struct err *err) MUST_CHECK;

enum share_state { SHARE_UNKNOWN, SHARE_EXPIRED, SHARE_FOUND };

/*
 * Reads a share within the snapshot of store_reader_begin(). `id` must satisfy share_id_is_valid().
 * *ret_share is set only if *ret_state is SHARE_FOUND; its texts are copied into the arena. An
 * unknown or expired id is not an error. ERR_IO: PostgreSQL failed; end the snapshot.
 */
bool store_reader_share(struct store_reader *reader, str id, bool with_payload, struct arena *arena,
			struct share *ret_share, enum share_state *ret_state,
			struct err *err) MUST_CHECK;
