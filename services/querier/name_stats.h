// SPDX-License-Identifier: Apache-2.0
/*
 * name_stats - how an answer came by its names: with every answer, and in the metrics.
 */
#pragma once

#include "profile/symbolize.h"

struct name_stats {
	uint64_t addresses; /* of binaries, that want names */
	uint64_t cached;    /* of these, known without asking */
	uint64_t asked;     /* asked for; twice, where a debug file is another than it was */
	uint64_t requests;
	uint64_t named, unnamed[NAME_REASON_COUNT]; /* of addresses */
	uint64_t ns;                                /* that it took */
	bool has_asked; /* there is somebody to ask, and the rest says how it went */
};
