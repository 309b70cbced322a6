// SPDX-License-Identifier: Apache-2.0
#include "ingester/maintain/balance_watch.h"
#include "support/test.h"

enum { WAIT = 10, ROUNDS = 6 };

/* What the fleet says of one host in a round; `now` 0 ends the list. */
struct round {
	uint64_t now, in_flight;
	int64_t unaccounted;
	uint64_t last_seen_ms;
	bool fails; /* the fleet cannot be read to its end */
};

static void finds_hosts_whose_balance_stays_open(void **state)
{
	static const struct {
		const char *what;
		struct round rounds[ROUNDS];
		uint64_t stuck, unaccounted;
	} rows[] = {
		{ .what = "closed", .rounds = { { 1 }, { 20 } } },
		{ .what = "in transit, not for long",
		  .rounds = { { 1, 5, 0, 1 }, { 10, 5, 0, 2 } } },
		{ .what = "in transit, and it does not fall",
		  .rounds = { { 1, 5, 0, 1 }, { 11, 5, 0, 2 } },
		  .stuck = 1 },
		{ .what = "more and more",
		  .rounds = { { 1, 5, 0, 1 }, { 6, 7, 0, 2 }, { 11, 9, 0, 3 } },
		  .stuck = 1 },
		{ .what = "it falls", .rounds = { { 1, 5, 0, 1 }, { 11, 4, 0, 2 } } },
		{ .what = "it fell and then does not fall",
		  .rounds = { { 1, 5, 0, 1 }, { 11, 4, 0, 2 }, { 21, 6, 0, 3 } },
		  .stuck = 1 },
		{ .what = "it was 0 in between",
		  .rounds = { { 1, 5, 0, 1 }, { 6, 0, 0, 2 }, { 12, 5, 0, 3 } } },
		{ .what = "a silent host", .rounds = { { 1, 5, 0, 1 }, { 99, 5, 0, 1 } } },
		{ .what = "it was silent and sends again",
		  .rounds = { { 1, 5, 0, 1 }, { 99, 5, 0, 1 }, { 109, 5, 0, 2 } },
		  .stuck = 1 },
		{ .what = "unaccounted for long, also if silent and changing",
		  .rounds = { { 1, 0, -5, 1 }, { 6, 0, 3, 1 }, { 11, 0, -1, 1 } },
		  .unaccounted = 1 },
		{ .what = "unaccounted, closed, unaccounted",
		  .rounds = { { 1, 0, -5, 1 }, { 6, 0, 0, 1 }, { 11, 0, -1, 1 } } },
		{ .what = "a round that fails neither forgets nor counts",
		  .rounds = { { 1, 0, -5, 1 }, { 6, 0, 0, 1, true }, { 11, 0, -1, 1 } },
		  .unaccounted = 1 },
		{ .what = "both",
		  .rounds = { { 1, 5, 7, 1 }, { 11, 5, 7, 2 }, { 12, 5, 7, 2, true } },
		  .stuck = 1,
		  .unaccounted = 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct balance_watch watch;
		struct err err;
		bool more = true;

		print_message("# %s\n", rows[i].what);
		balance_watch_init(&watch, WAIT);
		for (size_t j = 0; j < ROUNDS && rows[i].rounds[j].now; j++) {
			const struct round *round = &rows[i].rounds[j];
			const struct fleet_host closed = { .host = STR("closed/id") };
			const struct fleet_host host = {
				.host = STR("n1/id"),
				.last_seen_ms = round->last_seen_ms,
				.balance = { .in_flight = round->in_flight,
					     .unaccounted = round->unaccounted },
			};

			balance_watch_begin(&watch, round->now);
			assert_true(balance_watch_host(&watch, &closed, &more, &err));
			assert_true(balance_watch_host(&watch, &host, &more, &err) && more);
			if (round->fails)
				balance_watch_abort(&watch);
			else
				balance_watch_end(&watch);
		}
		assert_int_equal(watch.stuck, rows[i].stuck);
		assert_int_equal(watch.unaccounted, rows[i].unaccounted);
		balance_watch_done(&watch);
	}
}

RUN_TESTS(TEST(finds_hosts_whose_balance_stays_open))
