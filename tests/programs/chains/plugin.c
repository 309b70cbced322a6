// SPDX-License-Identifier: Apache-2.0
/*
 * plugin - one of two shared objects that take turns at the same addresses; see chains.c.
 *
 * Frames of another size in each (-DFRAME=), so that rows of one read for the other lead nowhere.
 */
#include "chains.h"

#include <string.h>

static volatile char sink;

KEPT static void plugin_inner(void (*back)(void))
{
	volatile char bytes[FRAME];

	bytes[FRAME / 2] = sink;
	back();
	sink = bytes[FRAME / 2];
}

KEPT void plugin_enter(void (*back)(void))
{
	plugin_inner(back);
	sink++;
}
