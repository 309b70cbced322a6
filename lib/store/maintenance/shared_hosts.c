// SPDX-License-Identifier: Apache-2.0
#include "store/maintenance/shared_hosts.h"

#include "base/log.h"
#include "store/active_agents.h"

#include <inttypes.h>

enum { LOGGED_MAX = 10 };

/* Only hosts that have sent in the last five minutes are read completely. */
static const char sql[] =
	"SELECT host, count(*)::bigint FROM (SELECT host, " AGENT_IS_ACTIVE " AS is_active"
	" FROM agent_status WHERE host IN (SELECT host FROM agent_status"
	" WHERE received_at > now() - interval '5 minutes' GROUP BY host HAVING count(*) > 1)"
	" " AGENT_WINDOW ") AS of_hosts WHERE is_active GROUP BY host HAVING count(*) > 1 "
	"ORDER BY host";

bool shared_hosts_check(struct postgres *pg, uint64_t *ret_hosts, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!postgres_query(pg, sql, NULL, 0, &rows, err))
		return err_wrap(err, "check for hosts with several agents");
	for (size_t i = 0; i < rows.count && i < LOGGED_MAX; i++)
		log_warn("several agents send under one host id: cloned machines?",
			 "host=" STR_FMT " agents=%" PRId64, STR_ARG(postgres_get(&rows, i, 0)),
			 postgres_get_i64(&rows, i, 1));
	*ret_hosts = rows.count;
	return true;
}
