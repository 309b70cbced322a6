// SPDX-License-Identifier: Apache-2.0
#include "store/maintenance/stuck_writers.h"

#include "base/log.h"

/*
 * Only sessions of ingesters that wait for their client. The state of a pipeline changes with each
 * statement that arrives, at most seconds apart; the state of COPY changes with its first byte
 * only. Between the statements of retention a session is idle, without a transaction, but with the
 * advisory lock that lets one ingester at a time enforce retention.
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
		return err_wrap(err, "check for stuck writers");
	if (rows.count)
		log_warn("terminated connections of stuck writers", "count=%zu", rows.count);
	*ret_ended += rows.count;
	return true;
}
