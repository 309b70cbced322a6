// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/upload_shares.h"

#include "base/clock.h"
#include "server/metrics/metrics.h"

#include <assert.h>
#include <string.h>

enum { DAY_SECONDS = 24 * 3600 };

#define UPLOAD_SHARES_METRICS(ROW)                                                            \
	ROW(forgotten, METRIC_COUNTER, "decima_debuginfo_upload_clients_forgotten_total",     \
	    "Clients whose uploaded bytes were forgotten before they were forgiven, to make " \
	    "room for another client.")                                                       \
	ROW(running, METRIC_GAUGE, "decima_debuginfo_uploads_running", "Uploads in progress.")

METRICS(upload_shares_metrics, UPLOAD_SHARES_METRICS);

void upload_shares_init(struct upload_shares *shares, unsigned int client_slots,
			uint64_t daily_bytes)
{
	*shares =
		(struct upload_shares){ .client_slots = client_slots, .daily_bytes = daily_bytes };
	pthread_mutex_init(&shares->lock, NULL);
}

/* Called with the lock held, as are the functions below. */
static void forgive(const struct upload_shares *shares, struct upload_share *share, uint64_t now_ns)
{
	uint64_t seconds = (now_ns - share->forgiven_ns) / NS_PER_SECOND;
	/* Not `seconds * daily_bytes`, which could overflow. */
	uint64_t bytes =
		seconds >= DAY_SECONDS ? share->sent : shares->daily_bytes / DAY_SECONDS * seconds;

	share->sent -= bytes < share->sent ? bytes : share->sent;
	share->forgiven_ns += seconds * NS_PER_SECOND;
}

static bool is_within(const struct upload_shares *shares, const struct upload_share *share,
		      uint64_t bytes)
{
	return !shares->daily_bytes ||
	       (share->sent <= shares->daily_bytes && bytes <= shares->daily_bytes - share->sent);
}

/* The client's entry, or the one to use for it: the one without uploads that has sent least. At
 * most UPLOADS_MAX entries have uploads, so there is one. */
static struct upload_share *find(struct upload_shares *shares, const unsigned char *client,
				 uint64_t now_ns)
{
	struct upload_share *least = NULL;

	for (size_t i = 0; i < UPLOAD_CLIENTS_MAX; i++) {
		struct upload_share *share = &shares->clients[i];

		forgive(shares, share, now_ns);
		if (memcmp(share->client, client, UPLOAD_CLIENT_LEN) == 0)
			return share;
		if (!share->running && (!least || share->sent < least->sent))
			least = share;
	}
	assert(least);
	if (least->sent)
		metric_add(&forgotten, 1);
	*least = (struct upload_share){ .forgiven_ns = now_ns };
	memcpy(least->client, client, UPLOAD_CLIENT_LEN);
	return least;
}

enum upload_admission upload_shares_enter(struct upload_shares *shares, const unsigned char *client,
					  uint64_t bytes, uint64_t now_ns,
					  struct upload_share **ret_share)
{
	static const unsigned char unknown[UPLOAD_CLIENT_LEN];
	enum upload_admission admission = UPLOAD_ADMITTED;

	pthread_mutex_lock(&shares->lock);
	if (shares->running >= UPLOADS_MAX) {
		admission = UPLOAD_ALL_BUSY;
	} else {
		struct upload_share *share = find(shares, client ? client : unknown, now_ns);

		if (share->running >= shares->client_slots) {
			admission = UPLOAD_CLIENT_BUSY;
		} else if (!is_within(shares, share, bytes ? bytes : 1)) {
			admission = UPLOAD_OVER_QUOTA;
		} else {
			share->running++;
			metric_set(&running, ++shares->running);
			*ret_share = share;
		}
	}
	pthread_mutex_unlock(&shares->lock);
	return admission;
}

bool upload_shares_charge(struct upload_shares *shares, struct upload_share *share, uint64_t bytes,
			  uint64_t now_ns)
{
	bool may;

	pthread_mutex_lock(&shares->lock);
	forgive(shares, share, now_ns);
	may = is_within(shares, share, bytes);
	if (may)
		share->sent += bytes;
	pthread_mutex_unlock(&shares->lock);
	return may;
}

void upload_shares_leave(struct upload_shares *shares, struct upload_share *share)
{
	pthread_mutex_lock(&shares->lock);
	share->running--;
	metric_set(&running, --shares->running);
	pthread_mutex_unlock(&shares->lock);
}
