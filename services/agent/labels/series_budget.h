// SPDX-License-Identifier: Apache-2.0
/*
 * series_budget - how many series a host may make in an hour.
 *
 * A series is stored and indexed by its labels, and any user can start programs with ever new names
 * and paths. So an hour has a limit of different series for the host, and one for each owner: the
 * container or the systemd unit of the process. An owner that has used its own has the value
 * `other` in the labels that a process chooses; the others are not affected. At the turn of an hour
 * the count begins again.
 *
 *     switch (series_budget_admit(&budget, now_ns, owner, series_id)) ...
 *
 * A zeroed struct is valid; series_budget_done() frees it. No function fails. One thread.
 */
#pragma once

#include "base/hash.h"
#include "base/index.h"

enum series_fate {
	SERIES_KEPT,
	SERIES_OF_OWNER, /* comm, exe and cgroup are to be `other` */
	SERIES_OF_HOST,  /* so are the labels of the owner */
};

struct series_owner {
	uint64_t id;
	uint32_t series;
};

struct series_budget {
	uint64_t began_ns;                 /* of the hour, CLOCK_MONOTONIC */
	INDEX(uint64_t) series;            /* ids; read only its len */
	INDEX(struct series_owner) owners; /* private */
};

/* The fate of a sample's series. now_ns: the time of the sample, CLOCK_MONOTONIC; samples need not
 * come in the order of their times. `owner` may be empty; `series`: the id of the series. */
enum series_fate series_budget_admit(struct series_budget *budget, uint64_t now_ns, str owner,
				     uint64_t series);

void series_budget_done(struct series_budget *budget);
