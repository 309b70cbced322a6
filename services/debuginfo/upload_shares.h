// SPDX-License-Identifier: Apache-2.0
/*
 * upload_shares - what one client address may take of the uploads: slots at once, bytes per day.
 *
 * A client may send daily_bytes at once; what it has sent is forgiven at the rate of daily_bytes
 * per day. The table has a fixed size: if it is full, the client that has sent least is forgotten.
 * A restart forgets all. Any thread; times are the caller's, monotonic.
 */
#pragma once

#include "debuginfo/debuginfo_limits.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { UPLOAD_CLIENT_LEN = 16 };

struct upload_share {
	/* private */
	unsigned char client[UPLOAD_CLIENT_LEN];
	unsigned int running;
	uint64_t sent, forgiven_ns; /* sent: bytes that are not forgiven yet, as of forgiven_ns */
};

struct upload_shares {
	/* private */
	pthread_mutex_t lock;
	struct upload_share clients[UPLOAD_CLIENTS_MAX];
	unsigned int running, client_slots;
	uint64_t daily_bytes;
};

/* client_slots: of the UPLOADS_MAX slots, for one client; daily_bytes 0: any number. Nothing has to
 * be closed. */
void upload_shares_init(struct upload_shares *shares, unsigned int client_slots,
			uint64_t daily_bytes);

enum upload_admission {
	UPLOAD_ADMITTED,
	UPLOAD_ALL_BUSY,    /* all slots are in use */
	UPLOAD_CLIENT_BUSY, /* the client's slots are in use */
	UPLOAD_OVER_QUOTA,  /* with `bytes` more the client would exceed daily_bytes */
	UPLOAD_ADMISSION_COUNT
};

/* Acquires a slot. UPLOAD_ADMITTED: *ret_share is borrowed until upload_shares_leave(). `client`:
 * UPLOAD_CLIENT_LEN bytes; NULL: unknown, all such clients share. `bytes`: of the upload, 0 if they
 * are unknown; nothing is charged yet. */
enum upload_admission upload_shares_enter(struct upload_shares *shares, const unsigned char *client,
					  uint64_t bytes, uint64_t now_ns,
					  struct upload_share **ret_share);

/* Charges the client. False, with nothing charged: it would exceed daily_bytes. */
bool upload_shares_charge(struct upload_shares *shares, struct upload_share *share, uint64_t bytes,
			  uint64_t now_ns);

/* Releases the slot. */
void upload_shares_leave(struct upload_shares *shares, struct upload_share *share);

extern struct metric *const upload_shares_metrics[];
