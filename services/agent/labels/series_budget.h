// SPDX-License-Identifier: Apache-2.0
/*
 * series_budget - how many series a host may make in an hour.
 *
 * A series is stored and indexed by its labels, and any user can start programs with ever new names
 * and paths. So an hour has a limit of different series for the host, which the owners of the
 * processes share (shares.h), and one for each owner. An owner that has used its own has the value
 * `other` in the labels that a process chooses; the others are not affected. At the turn of an hour
 * the count begins again.
 *
 *     if (!series_budget_knows(&budget, now_ns, series_id))
 *             switch (series_budget_admit(&budget, owner, series_id)) ...
 *
 * A zeroed struct is valid; series_budget_done() frees it. No function fails. One thread.
 */
#pragma once

#include "base/shares.h"

enum series_fate {
	SERIES_KEPT,
	SERIES_OF_OWNER, /* comm, exe and cgroup are to be `other` */
	SERIES_OF_HOST,  /* so are the labels of the owner, which has no series in this hour */
};

struct series_budget {
	uint64_t began_ns;      /* of the hour, CLOCK_MONOTONIC */
	INDEX(uint64_t) series; /* ids; read only its len */
	struct shares owners;   /* private */
};

/* True if the series was admitted in this hour. now_ns: the time of the sample, CLOCK_MONOTONIC;
 * samples need not come in the order of their times. */
bool series_budget_knows(struct series_budget *budget, uint64_t now_ns, uint64_t series);

/* The fate of the series of a sample, which is not known. `series`: its id. */
enum series_fate series_budget_admit(struct series_budget *budget, struct share_owner owner,
				     uint64_t series);

void series_budget_done(struct series_budget *budget);
