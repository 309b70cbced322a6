// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "debuginfo/upload_shares.h"
#include "server/metrics/metrics.h"
#include "support/test.h"

enum { QUOTA = 864000, HOUR = 3600 };

/* Too large for the stack. */
static struct upload_shares shares;

struct address {
	unsigned char bytes[UPLOAD_CLIENT_LEN];
};

static struct address address_of(unsigned int number)
{
	struct address address = { .bytes = { 0x20, 1 } };

	memcpy(&address.bytes[8], &number, sizeof(number));
	return address;
}

static enum upload_admission enter(unsigned int client, uint64_t bytes, uint64_t now_s,
				   struct upload_share **ret_share)
{
	struct address address = address_of(client);

	return upload_shares_enter(&shares, address.bytes, bytes, now_s * NS_PER_SECOND, ret_share);
}

/* Whether the client may upload that many bytes. */
static bool uploads(unsigned int client, uint64_t bytes, uint64_t now_s)
{
	struct upload_share *share = NULL;
	enum upload_admission admission = enter(client, bytes, now_s, &share);

	if (admission != UPLOAD_ADMITTED) {
		assert_int_equal(admission, UPLOAD_OVER_QUOTA);
		return false;
	}
	assert_true(upload_shares_charge(&shares, share, bytes, now_s * NS_PER_SECOND));
	upload_shares_leave(&shares, share);
	return true;
}

static void one_client_cannot_have_all_slots(void **state)
{
	struct upload_share *held[UPLOADS_MAX], *other = NULL;
	size_t count = 0;

	(void)state;
	upload_shares_init(&shares, 2, QUOTA);
	for (unsigned int client = 0; client < UPLOADS_MAX / 2; client++) {
		assert_int_equal(enter(client, 1, 0, &held[count++]), UPLOAD_ADMITTED);
		assert_int_equal(enter(client, 1, 0, &held[count++]), UPLOAD_ADMITTED);
		if (count < UPLOADS_MAX)
			assert_int_equal(enter(client, 1, 0, &other), UPLOAD_CLIENT_BUSY);
	}
	assert_int_equal(enter(99, 1, 0, &other), UPLOAD_ALL_BUSY);
	upload_shares_leave(&shares, held[0]);
	assert_int_equal(enter(99, 1, 0, &other), UPLOAD_ADMITTED);
	assert_int_equal(enter(0, 1, 0, &held[0]), UPLOAD_ALL_BUSY);
}

static void clients_without_a_known_address_share(void **state)
{
	struct upload_share *share = NULL;

	(void)state;
	upload_shares_init(&shares, 2, QUOTA);
	assert_int_equal(upload_shares_enter(&shares, NULL, 1, 0, &share), UPLOAD_ADMITTED);
	assert_int_equal(upload_shares_enter(&shares, NULL, 1, 0, &share), UPLOAD_ADMITTED);
	assert_int_equal(upload_shares_enter(&shares, NULL, 1, 0, &share), UPLOAD_CLIENT_BUSY);
}

static void a_client_has_a_quota_of_bytes_per_day(void **state)
{
	(void)state;
	upload_shares_init(&shares, 2, QUOTA);
	assert_false(uploads(1, QUOTA + 1, HOUR));
	assert_true(uploads(1, QUOTA - 1000, HOUR));
	assert_false(uploads(1, 1001, HOUR));
	assert_true(uploads(1, 1000, HOUR));
	assert_false(uploads(1, 0, HOUR)); /* a body of unknown length */
	assert_true(uploads(2, QUOTA, HOUR));

	/* Ten bytes a second are forgiven. */
	assert_false(uploads(1, 36001, 2 * HOUR));
	assert_true(uploads(1, 36000, 2 * HOUR));
	assert_false(uploads(1, 1, 2 * HOUR));
	assert_true(uploads(1, QUOTA, 26 * HOUR));
	assert_true(uploads(1, QUOTA, 1000 * HOUR));
}

static void a_body_of_unknown_length_is_charged_by_its_pieces(void **state)
{
	struct upload_share *share = NULL;

	(void)state;
	upload_shares_init(&shares, 2, QUOTA);
	assert_int_equal(enter(1, 0, 0, &share), UPLOAD_ADMITTED);
	assert_true(upload_shares_charge(&shares, share, QUOTA - 1, 0));
	assert_false(upload_shares_charge(&shares, share, 2, 0));
	assert_true(upload_shares_charge(&shares, share, 1, 0));
	assert_false(upload_shares_charge(&shares, share, 1, 0));
	upload_shares_leave(&shares, share);
}

static void without_a_quota_any_number_of_bytes_is_accepted(void **state)
{
	(void)state;
	upload_shares_init(&shares, 2, 0);
	assert_true(uploads(1, UINT64_C(1) << 62, 0));
	assert_true(uploads(1, UINT64_C(1) << 62, 0));
}

static int64_t forgotten(void)
{
	return metric_get(upload_shares_metrics[0]);
}

static void the_client_that_has_sent_least_is_forgotten_first(void **state)
{
	int64_t before = forgotten();
	struct upload_share *running = NULL;

	(void)state;
	upload_shares_init(&shares, 2, QUOTA);
	assert_int_equal(enter(0, 1, 0, &running), UPLOAD_ADMITTED);
	assert_true(uploads(1, QUOTA, 0));
	for (unsigned int client = 2; client < UPLOAD_CLIENTS_MAX; client++)
		assert_true(uploads(client, 1000, 0));
	assert_int_equal(forgotten(), before);
	for (unsigned int client = 0; client < UPLOAD_CLIENTS_MAX; client++)
		assert_true(uploads(UPLOAD_CLIENTS_MAX + client, 1000, 0));
	assert_int_equal(forgotten(), before + UPLOAD_CLIENTS_MAX);
	assert_false(uploads(1, 1, 0));
	assert_true(upload_shares_charge(&shares, running, 1, 0));
	upload_shares_leave(&shares, running);
}

RUN_TESTS(TEST(one_client_cannot_have_all_slots), TEST(clients_without_a_known_address_share),
	  TEST(a_client_has_a_quota_of_bytes_per_day),
	  TEST(a_body_of_unknown_length_is_charged_by_its_pieces),
	  TEST(without_a_quota_any_number_of_bytes_is_accepted),
	  TEST(the_client_that_has_sent_least_is_forgotten_first))
