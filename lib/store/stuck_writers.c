// SPDX-License-Identifier: Apache-2.0
#include "store/stuck_writers.h"

#include "base/log.h"

/*
 * Only our own kind, and only who waits for its client. A pipeline's state changes with each
 * statement that comes, seconds apart at most; COPY's began with its first byte, and lasts.
 * Among retention's statements a writer stands idle, without a transaction, but with the
 * lock that lets one of us at a time do that work.
 */
static const char sql[] =
	"SELECT pg_terminate_backend(pid) FROM pg_stat_activity AS client "
	"WHERE application_name = current_setting('application_name') "
	"AND datname = current_database() AND usename = current_user "
	"AND pid <> pg_backend_pid() AND wait_event = 'ClientRead' "
	"AND (state = 'active' AND query NOT LIKE 'COPY %'"
	" AND state_change < now() - interval '10 seconds' "
	"OR state = 'active' AND state_change < now() - interval '2 minutes' "
	"OR state = 'idle' AND state_change < now() - interval '2 minutes'"
	" AND EXISTS (SELECT FROM pg_locks AS held"
	" WHERE held.pid = client.pid AND held.locktype = 'advisory' AND held.granted))";

bool stuck_writers_terminate(struct postgres *pg, uint64_t *ret_ended, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!postgres_query(pg, sql, NULL, 0, &rows, err))
		return err_wrap(err, "look for writers that stand still");
	if (rows.count)
		log_warn("ended writers that stood still", "count=%zu", rows.count);
	*ret_ended += rows.count;
	return true;
}
